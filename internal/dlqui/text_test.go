package dlqui

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

func TestPayloads(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body   string
		format string
		has    string
	}{
		"object":          {`{"a":[1,2]}`, "JSON", "{\n  \"a\": [\n    1,\n    2\n  ]\n}"},
		"exact numbers":   {`{"n":12345678901234567890.10}`, "JSON", "12345678901234567890.10"},
		"a scalar":        {"42", "text", "42"},
		"broken":          {`{"a":`, "text", `{"a":`},
		"controls":        {"a\x1b[31m\u202eb\tc\n", "text", `a\x1b[31m\u202eb` + "\tc\n"},
		"bytes":           {"\xff\x00<", "bytes", "ff 00 3c"},
		"nothing but end": {"\u2028", "text", `\u2028`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p := newPayload(test.body); p.Format != test.format || !strings.Contains(p.Text, test.has) || p.Cut {
				t.Errorf("%+v", p)
			}
		})
	}
	for _, body := range []string{strings.Repeat("ä", maxShown), "\xff" + strings.Repeat("x", maxShown)} {
		if p := newPayload(body); !p.Cut || !utf8.ValidString(p.Text) {
			t.Errorf("%d bytes, cut %v", len(p.Text), p.Cut)
		}
	}
}

// What a form cannot carry is not edited; what it can comes back as it was.
func TestFormsKeepPayloads(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"a", "a\nb\n", "\na", "a\r\nb\r\n", "{\"ü\":\"\\u0000\"}", "\ttab"} {
		sent := strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\n", "\r\n") // as browsers do
		if text := editProblem(body); text != "" || fromForm(sent, body) != body {
			t.Errorf("%q: %s, %q", body, text, fromForm(sent, body))
		}
	}
	for _, body := range []string{"a\rb", "a\r\nb\n", "\x00", "\x1b", "\xff", "a\r\r\n"} {
		if editProblem(body) == "" {
			t.Errorf("%q can be edited", body)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, after, want string }{
		"one line of JSON": {`{"a":1,"b":2}`, `{"a":1,"b":3}`, `@…| {|   "a": 1,|-  "b": 2|+  "b": 3| }`},
		"text":             {"a\nb", "a\nc", "@…| a|-b|+c"},
		"spaces of JSON":   {`{"a":1}`, `{"a": 1}`, `@…|-{"a":1}|+{"a": 1}`},
		"last end":         {"a", "a\n", " only the end of the last line differs"},
		"controls":         {"a", "\x1b", `@…|-a|+\x1b`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range differences(test.before, test.after) {
				got = append(got, c.Sign+c.Text)
			}
			if text := strings.Join(got, "|"); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

func TestTrends(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(after time.Duration, n int) sample {
		return sample{at: start.Add(after), count: deadletters.Count{Visible: n}}
	}
	tests := map[string]struct {
		samples []sample
		words   string
		points  int
	}{
		"none":  {nil, "", 0},
		"one":   {[]sample{at(0, 3)}, "no trend yet", 0},
		"more":  {[]sample{at(0, 3), at(time.Minute, 5)}, "2 more in 1 min", 2},
		"fewer": {[]sample{at(0, 3), at(time.Minute, 9), at(2*time.Hour, 0)}, "3 fewer in 2 h 0 min", 3},
		"equal": {[]sample{at(0, 0), at(30*time.Second, 0)}, "unchanged for 30 s", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newTrend(test.samples, error.Error)
			if got.Words != test.words || len(strings.Fields(got.Points)) != test.points {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Whatever stands in an address or a form is read without a panic, and what is accepted
// is in its range.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"", "text=a&where=a.b%3D1&where=c!%3D2&id=x&id=y&page=2", "where=x", "rate=1e309&steps=-1", "rate=NaN",
		"rate=0.5&steps=3,10&why=+x+", "page=99999999999999999999", "group=%00&reason=%F0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if filter, err := parseFilter(values); err == nil {
			kept := selecting(values)
			again, err := parseFilter(kept)
			if _, a := unseen(&filter); err != nil || len(again.IDs) != len(filter.IDs) {
				t.Errorf("%q is read as %v, and then not: %v", query, a, err)
			}
			if (len(kept) == 0) != filter.IsZero() {
				t.Errorf("%q: fields %v, filter %+v", query, kept, filter)
			}
		}
		if s, err := parseSending(values); err == nil && (!(s.rate > 0 && s.rate <= maxRate) || len(s.steps) > maxSteps) {
			t.Errorf("%q: %+v", query, s)
		}
		if n := parsePage(values); n < 1 {
			t.Errorf("%q: page %d", query, n)
		}
		if strings.IndexFunc(line(query), unicode.IsControl) >= 0 {
			t.Errorf("%q has control characters", line(query))
		}
		_ = differences(query, values.Get("body"))
	})
}
