package check

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// page returns docs/check.md from its introduction and the table of rules.
func page(introduction string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(introduction, "\n") + "\n")
	b.WriteString("\n## The rules\n\n| rule | what is wrong |\n|---|---|\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", r.ID, strings.ToLower(r.ID), r.Title)
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", r.ID, wrap(sentence(r.Title)))
		if r.Sqsafe {
			b.WriteString("Only for functions with variables of sqsafe.\n\n")
		}
		why := wrap("In production: " + lowerFirst(r.Why))
		fmt.Fprintf(&b, "%s\n\n```yaml\n%s\n```\n\nSource: <%s>\n", why, r.Write, r.Source)
	}
	return b.String()
}

func sentence(title string) string { return strings.ToUpper(title[:1]) + title[1:] + "." }

// lowerFirst is for what follows a colon. A name or an abbreviation keeps its
// capital.
func lowerFirst(text string) string {
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "Lambda", "CloudFormation", "CloudWatch", "SQS", "SAM", "SAM's", "AWS":
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// wrap breaks a paragraph at 120 columns.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > 120:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

var update = flag.Bool("update", false, "rewrite docs/check.md")

func TestPageHasAllRules(t *testing.T) {
	t.Parallel()
	const file = "../../docs/check.md"
	want := page(read(t, "testdata/introduction.md"))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, file); got != want {
		t.Errorf("%s is not what the rules say: go test ./internal/check -update", file)
	}
}
