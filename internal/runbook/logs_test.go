package runbook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// logOf returns the log of a function for a job that is done, one that is
// retried, one that is dead-lettered and one that panics, in Lambda's JSON
// format.
func logOf(t *testing.T) []string {
	t.Helper()
	w := newWorld(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.MessageKey {
				a.Key = "message"
			}
			return a
		},
	}))
	run := func(ctx context.Context, j job) error {
		if j.ID == "ch-9" {
			panic("ch-9")
		}
		return w.run(ctx, j)
	}
	sender, err := dlq.NewSender(w.sqs, w.urls[deadCharges], &dlq.Options{Function: function, Logger: logger})
	w.check(err)
	store := dynamo.New(w.dynamodb, table, nil)
	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id"), Logger: logger})
	w.check(err)
	p, err := handler.NewProcessor(handler.JSON(run), &handler.Options{
		PanicAsPermanent: true, Ledger: ledger, DeadLetter: sender, Logger: logger,
	})
	w.check(err)
	for _, id := range []string{"ch-1", "ch-9"} {
		w.send(charges, `{"id":"`+id+`","customer":"c-1","currency":"EUR"}`, "", nil)
	}
	w.send(charges, declinedCharge, "", nil)
	w.send(charges, downCharge, "", nil)
	_, err = p.Handle(t.Context(), w.receive(charges))
	w.check(err)
	return strings.Split(strings.TrimSpace(log.String()), "\n")
}

// Log lines of Lambda in its JSON format, and lines of a process that cannot
// start or that exits.
var others = map[string]string{
	"start":   `{"time":"2026-11-30T18:00:00Z","type":"platform.start","record":{"requestId":"r","version":"7"}}`,
	"init":    `{"time":"2026-11-30T18:00:00Z","type":"platform.initStart","record":{"functionVersion":"7"}}`,
	"report":  `{"time":"2026-11-30T18:00:00Z","type":"platform.report","record":{"requestId":"r","status":"success"}}`,
	"timeout": `{"time":"2026-11-30T18:00:00Z","type":"platform.report","record":{"requestId":"r","status":"timeout"}}`,
	"exit": `{"time":"2026-11-30T18:00:00Z","type":"platform.report","record":{"requestId":"r","status":"error",` +
		`"errorType":"Runtime.ExitError"}}`,
	"text timeout": "2026-11-30T18:00:00Z 2c5e8f71 Task timed out after 30.03 seconds",
	"no address":   `charge: PAYMENT_URL is "", want an http or https URL`,
	"panic":        "panic: runtime error: index out of range [3] with length 3",
}

// linesByName returns log lines of all kinds. The line of a batch is the one in
// the documentation, which another test compares with the real output.
func linesByName(t *testing.T) map[string]string {
	t.Helper()
	all := maps.Clone(others)
	for _, line := range logOf(t) {
		var fields struct{ Message, Outcome string }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all[strings.TrimSuffix(fields.Message+" "+fields.Outcome, " ")] = line
	}
	_, text, _ := strings.Cut(read(t, "../../docs/metrics.md"), "<!-- begin line -->\n\n```json\n")
	text, _, _ = strings.Cut(text, "```")
	all["batch"] = strings.Join(strings.Fields(text), " ")
	all["slow batch"] = strings.Replace(all["batch"], `"TimeLeft": 29160`, `"TimeLeft": 2160`, 1)
	return all
}

// clause matches a comparison in a filter pattern for JSON.
var clause = regexp.MustCompile(`\$\.(\w+) (=|!=|<) "?([\w-]+)"?`)

// passes reports whether CloudWatch Logs would return the line. It supports
// patterns with comparisons joined by &&, and with terms that a line must not
// contain.
func passes(t *testing.T, pattern, line string) bool {
	t.Helper()
	if !strings.HasPrefix(pattern, "{") {
		for term := range strings.FieldsSeq(pattern) {
			absent, ok := strings.CutPrefix(term, "-")
			if !ok {
				t.Fatalf("the test does not know the pattern %s", pattern)
			}
			if strings.Contains(line, strings.Trim(absent, `"`)) {
				return false
			}
		}
		return true
	}
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return false
	}
	clauses := clause.FindAllStringSubmatch(pattern, -1)
	if len(clauses) != strings.Count(pattern, "$.") {
		t.Fatalf("the test does not know the pattern %s", pattern)
	}
	for _, c := range clauses {
		text, isText := fields[c[1]].(string)
		number, isNumber := fields[c[1]].(float64)
		limit, _ := strconv.ParseFloat(c[3], 64)
		holds := c[2] == "=" && isText && text == c[3] || c[2] == "!=" && isText && text != c[3] ||
			c[2] == "<" && isNumber && number < limit
		if !holds {
			return false
		}
	}
	return true
}

// TestFiltersSelectTheRightLines applies the filter patterns of alarm descriptions and of the
// runbook to lines of all kinds.
func TestFiltersSelectTheRightLines(t *testing.T) {
	t.Parallel()
	lines := linesByName(t)
	want := map[string][]string{
		`{$.message = "outcome" && $.outcome != "done"}`: {"outcome dead", "outcome retry"},
		`-INFO -DEBUG -success -"platform.start" -"platform.initStart"`: {
			"exit", "no address", "outcome dead", "panic", "text timeout", "timeout",
		},
	}
	seen := map[string]bool{}
	for _, path := range append(slices.Clone(templates), guide) {
		text := strings.Join(strings.Fields(strings.ReplaceAll(read(t, path), "${FunctionTimeout}", "30")), " ")
		for _, pattern := range found(`--filter-pattern '([^']+)'`, text) {
			shown, ok := want[pattern]
			if !ok {
				t.Errorf("%s: the test does not know what %s is to find", path, pattern)
			}
			seen[pattern] = true
			var got []string
			for _, name := range slices.Sorted(maps.Keys(lines)) {
				if passes(t, pattern, lines[name]) {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, shown) {
				t.Errorf("%s: %s finds %q, want %q", path, pattern, got, shown)
			}
		}
	}
	if len(seen) != len(want) {
		t.Errorf("the patterns are %v, want %d", slices.Sorted(maps.Keys(seen)), len(want))
	}
}

// TestFieldsOfQueriesExistInLogLines checks that real log lines have the fields that queries
// use.
func TestFieldsOfQueriesExistInLogLines(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, line := range logOf(t) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			known[name] = true
		}
	}
	for _, path := range append(slices.Clone(templates), guide) {
		text := strings.Join(strings.Fields(read(t, path)), " ")
		lists := append(
			found(`\| display ([^|'"$]+?)(?:'|"| [A-Z#]| -)`, text), found(` by ((?:\w+, )+\w+) \| sort`, text)...,
		)
		if len(lists) < 1 {
			t.Errorf("%s has the lists of fields %q only", path, lists)
		}
		for _, list := range lists {
			for field := range strings.SplitSeq(list, ", ") {
				if field != "@timestamp" && !known[field] {
					t.Errorf("%s: a query names %s, which no line has", path, field)
				}
			}
		}
	}
}
