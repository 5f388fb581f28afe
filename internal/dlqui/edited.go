package dlqui

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// editProblem says why a form cannot carry the body as it is; empty if it can. A browser
// sends each end of a line as CR LF.
func editProblem(body string) string {
	for _, r := range body {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff || r == '\ufffd' {
			return "the payload has characters that a form does not keep"
		}
	}
	if strings.Contains(strings.ReplaceAll(body, "\r\n", ""), "\r") || mixedEnds(body) {
		return "the lines of the payload end in different ways, which a form does not keep"
	}
	return ""
}

func mixedEnds(body string) bool {
	return strings.Contains(body, "\r\n") && strings.Contains(strings.ReplaceAll(body, "\r\n", ""), "\n")
}

// fromForm gives a body the ends of lines that it had before a form.
func fromForm(text, before string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.Contains(before, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// change is a line of a difference.
type change struct {
	// Sign is "+" for a new line, "-" for one that is gone, a space for one that stays, and
	// "@" between parts.
	Sign, Text string
}

// longestChange is how many bytes of a line of a difference are shown.
const longestChange = 4 << 10

// differences compares two payloads, JSON by its formatted lines.
func differences(before, after string) []change {
	if a, ok := indented(before); ok {
		if b, ok := indented(after); ok && a != b {
			before, after = a, b
		}
	}
	ended := func(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }
	var list []change
	text := udiff.Unified("", "", ended(before), ended(after))
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case i < 2 || l == "": // names of files
		case strings.HasPrefix(l, "@@"):
			list = append(list, change{"@", "…"})
		default:
			text, cut := shorten(line(l[1:]), longestChange)
			if cut {
				text += "…"
			}
			list = append(list, change{l[:1], text})
		}
	}
	if len(list) == 0 {
		list = append(list, change{" ", "only the end of the last line differs"})
	}
	return list
}
