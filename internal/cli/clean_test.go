package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/sqsafe/sqsafe/internal/local"
)

func TestNothingPrintedActsOnATerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "",
		"plain\ttext":          "plain\ttext",
		"Grüße 日本 👩‍👩‍👧":       "Grüße 日本 👩‍👩‍👧",
		"\x1b[31mred\x1b[0m":   "red",
		"\x1b]0;title\x07text": "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b[2J\x1b[Hdone":                        "done",
		"a\rb":                                     `a\x0db`,
		"bell\x07":                                 `bell\x07`,
		"del\x7f":                                  `del\x7f`,
		"nul\x00":                                  `nul\x00`,
		"C1 \u0085 end":                            `C1 \x85 end`,
		"user\u202Etxt.exe":                        `user\u202etxt.exe`,
		"iso\u2066late\u2069":                      `iso\u2066late\u2069`,
		"line\u2028line":                           `line\u2028line`,
		"not UTF-8 \xff":                           "not UTF-8 \ufffd",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}

// Whatever a function writes, a line of ours has none of what acts on a terminal, in the
// text and in the JSON; and the JSON says what the function wrote.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"\x1b[31mred", "\u202e", "\x9b31m", "\x1b", "\xc2\x9b2J", "a\tb", "\x1bP\x1b\\", "\x98",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var text, asJSON bytes.Buffer
		e := local.Event{Kind: local.KindOutput, Function: "F", Line: line}
		for _, p := range []printer{newTextPrinter(&text), (&Local{JSON: true}).newPrinter(Streams{Out: &asJSON})} {
			p.event(e)
			p.flush()
		}
		for _, out := range []string{text.String(), asJSON.String()} {
			body, ended := strings.CutSuffix(out, "\n")
			if !ended || strings.ContainsFunc(body, func(r rune) bool {
				return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
			}) {
				t.Errorf("%q is printed as %q", line, out)
			}
		}
		var back local.Event
		if err := json.Unmarshal(asJSON.Bytes(), &back); err != nil || back.Line != strings.ToValidUTF8(line, "\ufffd") &&
			!strings.Contains(back.Line, "\ufffd") {
			t.Errorf("%q is %q in the JSON: %v", line, back.Line, err)
		}
	})
}
