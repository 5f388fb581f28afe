package fault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
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
		fmt.Fprintf(&got, "%-18s %-9s %s\n", rule.ID, rule.Class, rule.Reason)
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

func TestRulesGivesACopy(t *testing.T) {
	t.Parallel()
	mine := fault.Rules()
	mine[0].ID = "mine"
	if got := fault.Rules()[0].ID; got == "mine" {
		t.Error("a change to the copy changed the standard table")
	}
}

func TestClassifyWithoutAnswer(t *testing.T) {
	t.Parallel()
	if got := fault.Classify(t.Context(), nil); got != (fault.Decision{}) {
		t.Errorf("nil error: %+v, want the zero Decision", got)
	}
	unknown := fault.Decision{Reason: "unclassified", Rule: "unknown"}
	for _, err := range []error{errors.New("boom"), context.Canceled, &json.InvalidUnmarshalError{}} {
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

func TestDeadlineOfTheJob(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	tests := []struct {
		name string
		ctx  context.Context
		err  error
		rule string
	}{
		{"any error after it", expired, errors.New("gave up"), "deadline"},
		{"before what the error says", expired, &fault.HTTPError{Status: 422}, "deadline"},
		{"a permanent tag comes first", expired, fault.Permanent(context.DeadlineExceeded), "tag.permanent"},
		{"a retryable tag comes first", expired, fault.Retryable(context.DeadlineExceeded), "tag.retryable"},
		{"somebody else's deadline", t.Context(), context.DeadlineExceeded, "net.timeout"},
		{"a cancellation is not a deadline", cancelled, errors.New("gave up"), "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := fault.Classify(tt.ctx, tt.err); got.Rule != tt.rule {
				t.Errorf("rule %q, want %q", got.Rule, tt.rule)
			}
		})
	}
}

// anyError draws a tree of wrapped, tagged and joined errors.
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

func TestTextIsNotRead(t *testing.T) {
	t.Parallel()
	for _, err := range leafErrors() {
		flat := fmt.Errorf("lost: %v", err)
		if got := fault.Classify(t.Context(), flat); got.Rule != fault.RuleUnknown {
			t.Errorf("%q is known to %s by its text", flat, got.Rule)
		}
	}
}
