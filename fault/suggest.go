package fault

import (
	"fmt"
	"slices"
	"strings"
)

// suggest names the rules whose ids are most similar to one that does not
// exist.
func (t Table) suggest(id string) string {
	if len(t) == 0 {
		return "the table is empty"
	}
	ids := make([]string, len(t))
	for i, rule := range t {
		ids[i] = fmt.Sprintf("%q", rule.ID)
	}
	quoted := fmt.Sprintf("%q", id)
	slices.SortStableFunc(ids, func(a, b string) int { return edits(quoted, a) - edits(quoted, b) })
	return "nearest are " + strings.Join(ids[:min(len(ids), 3)], ", ")
}

// edits returns the number of bytes to insert, delete or replace to turn a into
// b (Levenshtein distance).
func edits(a, b string) int {
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
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
