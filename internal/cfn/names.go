package cfn

import "strings"

// Remedy says what to do about an unknown name; prefix is put before the names
// that are known.
func Remedy(name, prefix string, known []string) string {
	if meant := Nearest(name, known, 1+len(name)/4); meant != "" {
		return "write " + prefix + meant
	}
	return "correct its name or remove it"
}

// Nearest returns the known name with the fewest edits to the given one,
// ignoring case, or an empty string if it takes more than most edits.
func Nearest(name string, known []string, most int) string {
	best := ""
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate), most); d <= most {
			best, most = candidate, d-1
		}
	}
	return best
}

// distance returns the number of letters to insert, remove or replace between
// two names. If it is above most, the result may be any number above most.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
