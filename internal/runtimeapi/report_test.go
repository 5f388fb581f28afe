package runtimeapi

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParseReport(f *testing.F) {
	for _, seed := range []string{
		`{"errorType":"T","errorMessage":"m","stackTrace":[{"path":"p.go","line":3,"label":"f"}]}`,
		`{"errorMessage":null}`, `[]`, `null`, ``, `{"errorMessage":"m","stackTrace":{}}`,
	} {
		f.Add([]byte(seed), "")
	}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		e := parseReport(body, header)
		if e.Type == "" {
			t.Errorf("%q gives no type", body)
		}
		if strings.HasPrefix(e.Message, "error report without") && len(e.Message) > 320 {
			t.Errorf("message of %d bytes shows a whole report", len(e.Message))
		}
	})
}

func FuzzClip(f *testing.F) {
	f.Add("€uro", 2)
	f.Add("short", 10)
	f.Fuzz(func(t *testing.T, s string, size int) {
		if size < 0 || !utf8.ValidString(s) {
			t.Skip("only texts and sizes")
		}
		got := clip(s, size)
		if !utf8.ValidString(got) || len(got) > max(size, 0)+len("…") {
			t.Errorf("clip(%q, %d) = %q", s, size, got)
		}
	})
}

func FuzzLinesDoNotDependOnWrites(f *testing.F) {
	f.Add("one\ntwo\r\n\nthree", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) {
			t.Skip("cut outside of the text")
		}
		if whole, cut := lines(text), lines(text[:at], text[at:]); whole != cut {
			t.Errorf("%q in two writes gives %q, want %q", text, cut, whole)
		}
	})
}

func lines(writes ...string) string {
	var got []string
	w := lineWriter{emit: func(line string) { got = append(got, line) }}
	for _, text := range writes {
		_, _ = w.Write([]byte(text))
	}
	w.flush()
	return strings.Join(got, "\n")
}
