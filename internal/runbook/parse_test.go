package runbook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseReadsEveryElement parses a document with every element.
func TestParseReadsEveryElement(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"<!-- setup -->", "```sh", "A=1", "```", "",
		"<!-- state: full -->", "Look:", "", "```sh", "echo a", "echo b", "```", "", "```json", "a", "b", "```",
		"<!-- then: nothing -->", "```sh aws-only", "aws x", "```", "", "```logs-insights", "filter", "```",
	}, "\n")
	doc, err := parse(guide, text)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{path: guide, line: 2, commands: "A=1\n", from: 4, to: 4},
		{path: guide, line: 9, commands: "echo a\necho b\n", output: "a\nb\n", shown: true, from: 14, to: 16},
		{path: guide, line: 19, commands: "aws x\n", awsOnly: true, from: 21, to: 21},
	}
	var got []block
	for _, b := range doc.blocks() {
		got = append(got, *b)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(block{})); d != "" {
		t.Errorf("blocks (-want +got):\n%s", d)
	}
	if c := doc.chapters; len(c) != 1 || c[0].state != "full" || c[0].steps[1].then != "nothing" {
		t.Errorf("chapters %+v", doc.chapters)
	}
}

// TestParseRefusesUntestableParts checks that errors are reported, since otherwise parts would
// not be tested.
func TestParseRefusesUntestableParts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"commands outside of a state", "```sh\nls\n```", ":3: it is not said in which state"},
		{"an event outside of a state", "<!-- then: a -->", ":1: it is not said in which state"},
		{"an unknown comment", "<!-- stat: a -->", `:1: unknown comment "stat"`},
		{"a comment of several lines", "<!-- state: a\n-->", ":1: a comment must be"},
		{"an unknown kind of block", "<!-- state: a -->\n```bash\nls\n```", `a block of "bash"`},
		{"a block that is not closed", "<!-- state: a -->\n```sh\nls", ":2: the block is not closed"},
		{
			"output without a command", "<!-- state: a -->\n```sh\nls\n```\nIt prints:\n```text\na\n```",
			"the block above is no output",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := parse(guide, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestStableKeepsMeaningfulTexts checks that meaningful texts are kept, and equal ids stay equal.
func TestStableKeepsMeaningfulTexts(t *testing.T) {
	t.Parallel()
	const a, b = "5f0c7a3e-9d41-4b86-8e2f-0a6b3c9d1e75", "0c7a3e5f-9d41-4b86-8e2f-0a6b3c9d1e75"
	s := stabilizer{}
	for _, tt := range []struct{ text, want string }{
		{a + " " + b + " " + a, "<id 1> <id 2> <id 1>"},
		{b, "<id 2>"},
		{"http://127.0.0.1:80/111122223333/q", queues + "q"},
		{`{"stack":"main.go:1 \"x\"","key":"ch-1"}`, `{"stack":"…","key":"ch-1"}`},
		{`"sent":"2026-11-30T18:13:50.578Z"`, `"sent":"<time>"`},
		{"1796062430572 1796062430 12345", "<millis> <seconds> 12345"},
		{"sqsafe-charges#ch-1 COMPLETED", "sqsafe-charges#ch-1 COMPLETED"},
	} {
		if got := s.stable(tt.text); got != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.text, got, tt.want)
		}
	}
}
