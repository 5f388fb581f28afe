package fault_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/fault"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestStandardTableIsAsPublished(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, rule := range fault.Rules() {
		fmt.Fprintf(&got, "%-20s %-12s %s\n", rule.ID, rule.Class, rule.Reason)
	}
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the table changed (-golden +now); if it was meant to, run with -update:\n%s", diff)
	}
}

func TestRuleIDsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{fault.RuleUnknown: true}
	for _, rule := range fault.Rules() {
		if seen[rule.ID] {
			t.Errorf("rule id %q is used twice", rule.ID)
		}
		seen[rule.ID] = true
	}
}

func TestRulesReturnsACopy(t *testing.T) {
	t.Parallel()
	mine := fault.Rules()
	mine[0].ID = "mine"
	if got := fault.Rules()[0].ID; got == "mine" {
		t.Error("a change to the copy changed the standard table")
	}
}

func TestErrorsWithoutRuleAreUnclassified(t *testing.T) {
	t.Parallel()
	if got := fault.Classify(t.Context(), nil); got != (fault.Decision{}) {
		t.Errorf("nil error: %+v, want the zero Decision", got)
	}
	unknown := fault.Decision{Reason: "unclassified", Rule: "unknown"}
	for _, err := range []error{errors.New("boom"), context.Canceled, sql.ErrNoRows} {
		if got := fault.Classify(t.Context(), err); got != unknown {
			t.Errorf("%v: %+v, want %+v", err, got, unknown)
		}
	}
	if got := fault.Table(nil).Classify(t.Context(), errors.New("boom")); got != unknown {
		t.Errorf("empty table: %+v, want %+v", got, unknown)
	}
}

func TestFirstRuleWins(t *testing.T) {
	t.Parallel()
	rule := func(id string, matches bool) fault.Rule {
		return fault.Rule{ID: id, Reason: "of_" + id, Class: fault.ClassPermanent,
			Match: func(context.Context, error) bool { return matches }}
	}
	refined := rule("refined", true)
	refined.Refine = func(_ error, d *fault.Decision) { d.Class, d.RetryAfter = fault.ClassRetryable, time.Minute }

	got := fault.Table{rule("silent", false), refined, rule("late", true)}.Classify(t.Context(), errors.New("boom"))
	want := fault.Decision{Class: fault.ClassRetryable, Reason: "of_refined", Rule: "refined", RetryAfter: time.Minute}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRetryAfterOfTheError(t *testing.T) {
	t.Parallel()
	own := &delayed{after: time.Minute}
	never := func(class fault.Class, refine func(error, *fault.Decision)) fault.Table {
		return fault.Table{{ID: "own", Reason: "own", Class: class, Refine: refine,
			Match: func(context.Context, error) bool { return true }}}
	}
	fixed := func(_ error, d *fault.Decision) { d.RetryAfter = time.Second }
	tests := []struct {
		name  string
		table fault.Table
		err   error
		want  time.Duration
	}{
		{"no rule matches the error", nil, own, time.Minute},
		{"wrapped", nil, fmt.Errorf("x: %w", own), time.Minute},
		{"lost by %v", nil, fmt.Errorf("x: %v", own), 0},
		{"outermost of two", nil, &delayed{after: time.Second, err: own}, time.Second},
		{"outermost names no delay", nil, &delayed{err: own}, time.Minute},
		{"negative delay", nil, &delayed{after: -time.Hour}, 0},
		{"longest of a join", nil, errors.Join(own, &delayed{after: time.Hour}), time.Hour},
		{"rule is retryable", never(retryable, nil), own, time.Minute},
		{"rule sets its own delay", never(retryable, fixed), own, time.Second},
		{"rule is permanent", never(permanent, nil), own, 0},
		{"rule is permanent and sets a delay", never(permanent, fixed), errBoom, 0},
		{"joined with another error", fault.Rules(), errors.Join(own, &fault.HTTPError{Status: 503}), time.Minute},
	}
	for _, tt := range tests {
		if got := tt.table.Classify(t.Context(), tt.err).RetryAfter; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// delayed is a user's error type that asks for a delay.
type delayed struct {
	after time.Duration
	err   error
}

func (e *delayed) Error() string             { return "delayed" }
func (e *delayed) Unwrap() error             { return e.err }
func (e *delayed) RetryAfter() time.Duration { return e.after }

// anyError generates a tree of wrapped, tagged and joined errors.
func anyError() *rapid.Generator[error] {
	leaves := append(leafErrors(), errors.New("boom"))
	return rapid.Custom(func(t *rapid.T) error {
		err := rapid.SampledFrom(leaves).Draw(t, "leaf")
		for range rapid.IntRange(0, 5).Draw(t, "depth") {
			other := rapid.SampledFrom(leaves).Draw(t, "other")
			switch rapid.IntRange(0, 4).Draw(t, "wrap") {
			case 0:
				err = fmt.Errorf("more: %w", err)
			case 1:
				err = fault.Retryable(err)
			case 2:
				err = fault.Permanent(err)
			case 3:
				err = errors.Join(err, other)
			case 4:
				err = fmt.Errorf("%w after %w", other, err)
			}
		}
		return err
	})
}

func TestDecisionDependsOnTheErrorOnly(t *testing.T) {
	t.Parallel()
	type key struct{}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	contexts := []context.Context{context.Background(), cancelled, context.WithValue(t.Context(), key{}, 1)}
	rapid.Check(t, func(t *rapid.T) {
		err := anyError().Draw(t, "error")
		want := fault.Classify(context.Background(), err)
		for attempt := range 100 {
			if got := fault.Classify(contexts[attempt%len(contexts)], err); got != want {
				t.Fatalf("attempt %d: %+v, at first %+v", attempt+1, got, want)
			}
		}
	})
}

func TestDecisionDoesNotDependOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, err := range leafErrors() {
			want := fault.Classify(t.Context(), err)
			<-time.After(24 * time.Hour)
			if got := fault.Classify(t.Context(), err); got != want {
				t.Errorf("%v: %+v, a day before %+v", err, got, want)
			}
		}
	})
}

func TestDecisionDoesNotDependOnTheOrderOfAJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		branches := rapid.SliceOfN(anyError(), 2, 4).Draw(t, "branches")
		want := fault.Classify(context.Background(), errors.Join(branches...))
		slices.Reverse(branches)
		got := fault.Classify(context.Background(), errors.Join(branches...))
		if got != want {
			t.Fatalf("reversed: %+v, before %+v", got, want)
		}
	})
}

func TestErrorTextDoesNotDecide(t *testing.T) {
	t.Parallel()
	for _, err := range leafErrors() {
		flat := fmt.Errorf("lost: %v", err)
		if got := fault.Classify(t.Context(), flat); got.Rule != fault.RuleUnknown {
			t.Errorf("%q is known to %s by its text", flat, got.Rule)
		}
	}
}
