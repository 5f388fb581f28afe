package fault_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/fault"
)

// always returns a rule that matches every error.
func always(id string) fault.Rule {
	return fault.Rule{ID: id, Reason: "of_" + id, Class: permanent,
		Match: func(context.Context, error) bool { return true }}
}

// wantDecision fails the test unless the table decides so.
func wantDecision(t *testing.T, table fault.Table, err error, want fault.Decision) {
	t.Helper()
	if diff := cmp.Diff(want, table.Classify(t.Context(), err)); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// wantPanic fails the test unless f panics with a text that has all of the
// words.
func wantPanic(t *testing.T, f func(), words ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		text, _ := recover().(string)
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("panic %q does not say %q", text, word)
			}
		}
	}()
	f()
}

func TestWithTriesItsRulesFirst(t *testing.T) {
	t.Parallel()
	silent := always("shop.silent")
	silent.Match = func(context.Context, error) bool { return false }
	table := fault.Rules().With(silent, always("shop.first"), always("shop.second"))

	for _, err := range []error{errBoom, &fault.HTTPError{Status: 503}, fault.Retryable(errBoom)} {
		wantDecision(t, table, err, fault.Decision{Class: permanent, Reason: "of_shop.first", Rule: "shop.first"})
	}
	if got, want := len(table), len(fault.Rules())+3; got != want {
		t.Errorf("%d rules, want %d", got, want)
	}
	wantDecision(t, table.With(always("shop.later")), errBoom,
		fault.Decision{Class: permanent, Reason: "of_shop.later", Rule: "shop.later"})
}

func TestWithRefusesInvalidRules(t *testing.T) {
	t.Parallel()
	blind := always("shop.blind")
	blind.Match = nil
	tests := []struct {
		name  string
		rules []fault.Rule
		words []string
	}{
		{"no id", []fault.Rule{always("")}, []string{"without ID"}},
		{"no match", []fault.Rule{blind}, []string{`"shop.blind"`, "Match"}},
		{"id of a standard rule", []fault.Rule{always("http.429")}, []string{`"http.429"`, "Override"}},
		{"reserved id", []fault.Rule{always("unknown")}, []string{`"unknown"`}},
		{"id twice", []fault.Rule{always("shop.a"), always("shop.a")}, []string{`"shop.a"`, "taken"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, func() { fault.Rules().With(tt.rules...) }, tt.words...)
		})
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	later := &fault.HTTPError{Status: 404, Delay: time.Minute}
	limited := &fault.HTTPError{Status: 429, Delay: time.Minute}
	missing := func(opts ...fault.Option) fault.Table {
		return fault.Rules().Override("http.404", retryable, opts...)
	}
	tests := []struct {
		name  string
		table fault.Table
		err   error
		want  fault.Decision
	}{
		{"keeps the reason", missing(), &fault.HTTPError{Status: 404},
			fault.Decision{Class: retryable, Reason: "not_found", Rule: "http.404"}},
		{"sets a reason", missing(fault.WithReason("not_yet")), &fault.HTTPError{Status: 404},
			fault.Decision{Class: retryable, Reason: "not_yet", Rule: "http.404"}},
		{"a retryable error may name its delay", missing(), later,
			fault.Decision{Class: retryable, Reason: "not_found", Rule: "http.404", RetryAfter: time.Minute}},
		{"a permanent error may not name a delay", fault.Rules().Override("http.429", permanent), limited,
			fault.Decision{Class: permanent, Reason: "rate_limited", Rule: "http.429"}},
		{"keeps its place after tags", missing(), fault.Permanent(later),
			fault.Decision{Class: permanent, Reason: "tagged", Rule: "tag.permanent"}},
		{"leaves other rules alone", missing(), &fault.HTTPError{Status: 410},
			fault.Decision{Class: permanent, Reason: "not_found", Rule: "http.410"}},
		{"the last of two overrides counts", missing(fault.WithReason("first")).Override("http.404", unclassified), later,
			fault.Decision{Class: unclassified, Reason: "first", Rule: "http.404", RetryAfter: time.Minute}},
		{"of a rule with Refine", fault.Rules().Override("tag.retryable", unclassified, fault.WithReason("mine")),
			fault.RetryAfter(time.Hour, errBoom, fault.WithReason("busy")),
			fault.Decision{Class: unclassified, Reason: "mine", Rule: "tag.retryable", RetryAfter: time.Hour}},
		{"of a user's own rule", fault.Table{always("shop.a")}.Override("shop.a", retryable), errBoom,
			fault.Decision{Class: retryable, Reason: "of_shop.a", Rule: "shop.a"}},
		{"of a foreign key in MySQL", fault.Rules().Override("sql.foreign_key", retryable), mySQL(1452),
			fault.Decision{Class: retryable, Reason: "foreign_key", Rule: "sql.foreign_key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantDecision(t, tt.table, tt.err, tt.want)
		})
	}
	if got := fault.Classify(t.Context(), later).Class; got != permanent {
		t.Errorf("overrides changed the standard table: %v", got)
	}
}

func TestOverrideOfUnknownRulePanics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		table fault.Table
		id    string
		words []string
	}{
		{fault.Rules(), "sql.foriegn_key", []string{`"sql.foriegn_key"`, `nearest are "sql.foreign_key", `}},
		{fault.Rules(), "http.402", []string{`"http.4`, ", "}},
		{fault.Rules(), "HTTP.404", []string{`"HTTP.404"`, `"http.404"`}},
		{fault.Rules(), "", []string{`no rule ""`}},
		{fault.Rules(), "unknown", []string{`no rule "unknown"`}},
		{fault.Table{always("a"), always("b")}, "c", []string{`nearest are "a", "b"`}},
		{nil, "http.404", []string{"empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, func() { tt.table.Override(tt.id, retryable) }, tt.words...)
		})
	}
}

func TestEveryRuleCanBeOverridden(t *testing.T) {
	t.Parallel()
	table := fault.Rules()
	for _, rule := range fault.Rules() {
		table = table.Override(rule.ID, unclassified, fault.WithReason("mine"))
	}
	for _, err := range leafErrors() {
		if got := table.Classify(t.Context(), err); got.Class != unclassified || got.Reason != "mine" {
			t.Errorf("%v: %+v, but every rule is overridden", err, got)
		}
	}
}

// A rule name with one wrong character still gets the right suggestion.
func TestMisspeltRuleIsSuggested(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(fault.Rules()).Draw(t, "rule").ID
		at := rapid.IntRange(0, len(id)-1).Draw(t, "at")
		slip := rapid.SampledFrom([]string{id[:at] + id[at+1:], id[:at] + "~" + id[at:], id[:at] + "~" + id[at+1:]}).
			Draw(t, "slip")
		defer func() {
			text := fmt.Sprint(recover())
			if slip != id && !strings.Contains(text, fmt.Sprintf("%q", id)) && !strings.HasPrefix(id, "http.") {
				t.Fatalf("%q was meant: %s", id, text)
			}
		}()
		fault.Rules().Override(slip, retryable)
	})
}

func TestSQLState(t *testing.T) {
	t.Parallel()
	foreign := stateError("23503")
	retry := func(reason, rule string) fault.Decision {
		return fault.Decision{Class: retryable, Reason: reason, Rule: rule}
	}
	tests := []struct {
		name string
		rule fault.Rule
		err  error
		want fault.Decision
	}{
		{"reason of the standard rule", fault.SQLState("23503", retryable), foreign,
			retry("foreign_key", "sqlstate.23503")},
		{"reason that the user sets", fault.SQLState("23503", retryable, fault.WithReason("early")), foreign,
			retry("early", "sqlstate.23503")},
		{"a code without a standard rule", fault.SQLState("P0001", retryable), stateError("P0001"),
			retry("tagged", "sqlstate.P0001")},
		{"wrapped and joined", fault.SQLState("23503", retryable), errors.Join(errBoom, fmt.Errorf("x: %w", foreign)),
			retry("foreign_key", "sqlstate.23503")},
		{"a class", fault.SQLState("23", retryable), foreign, retry("rejected", "sqlstate.23")},
		{"MySQL with a SQLSTATE", fault.SQLState("23000", retryable), mySQLState(1452, "23000"),
			retry("rejected", "sqlstate.23000")},
		{"another code", fault.SQLState("23503", retryable), stateError("23505"),
			fault.Decision{Class: permanent, Reason: "already_exists", Rule: "sql.unique"}},
		{"another class", fault.SQLState("53", permanent), stateError("57P01"), retry("connection", "sql.connection")},
		{"tags come first", fault.SQLState("23503", retryable), fault.Permanent(foreign),
			fault.Decision{Class: permanent, Reason: "tagged", Rule: "tag.permanent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantDecision(t, fault.Rules().With(tt.rule), tt.err, tt.want)
		})
	}
}

func TestSQLStateRefusesOtherCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "2", "235", "2350", "235033", "235o3", "23-03", "1452"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, func() { fault.SQLState(code, retryable) }, fmt.Sprintf("%q is no SQLSTATE", code))
		})
	}
}
