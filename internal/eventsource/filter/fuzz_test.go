package filter_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// FuzzCriteria checks that any pattern is either refused with an error of one
// line, or returns one of the reasons for every body. Giving the pattern twice
// does not change the reason.
func FuzzCriteria(f *testing.F) {
	f.Add(`{"body":{"a":[1,null,{"prefix":"x"}],"$or":[{"b":["c"]},{"d":[{"exists":false}]}]}}`, `{"a":1}`)
	f.Add(`{"body":[{"wildcard":"a*\\*b"},{"anything-but":{"suffix":["c"]}}]}`, `text`)
	f.Add(`{"body":{"a":[{"numeric":[">",1,"<=",2e3]}]}}`, `[{"a":[1,[2]]}]`)
	f.Add(`{"$or":[{"body":["a"]},{"body":{"a":["b"]}}]}`, `{`)
	f.Fuzz(func(t *testing.T, pattern, body string) {
		c, err := filter.Parse(pattern)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		got := c.Match(body)
		switch got {
		case filter.Matched, filter.Unmatched, filter.WantsJSON, filter.WantsText:
		default:
			t.Errorf("reason %q", got)
		}
		if got == filter.WantsText && !json.Valid([]byte(body)) {
			t.Errorf("%q is taken for JSON", body)
		}
		twice, err := filter.Parse(pattern, pattern)
		if err != nil || twice.Match(body) != got {
			t.Errorf("given twice: %v, %q, want %q", err, twice.Match(body), got)
		}
	})
}

// FuzzWildcard checks that a text matches itself with each of its characters
// escaped, and with a star at any position.
func FuzzWildcard(f *testing.F) {
	f.Add("a*b\\c", 2)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) || !utf8.ValidString(text[:at]) || !utf8.ValidString(text[at:]) || len(text) > 100 {
			t.Skip("no place between two characters")
		}
		escape := strings.NewReplacer("*", `\*`, `\`, `\\`)
		for _, wildcard := range []string{escape.Replace(text), escape.Replace(text[:at]) + "*" + escape.Replace(text[at:])} {
			rule, err := json.Marshal(map[string]any{"body": map[string]any{"a": []any{map[string]any{"wildcard": wildcard}}}})
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(map[string]string{"a": text})
			if err != nil {
				t.Fatal(err)
			}
			if got := reason(t, string(body), string(rule)); got != filter.Matched {
				t.Errorf("%s: %s on %s", rule, got, body)
			}
		}
	})
}
