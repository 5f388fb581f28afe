package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
)

var errBoom = errors.New("boom")

// claim is a user's error type.
type claim struct {
	permanent, retryable bool
	err                  error
}

func (c claim) Error() string   { return "claim" }
func (c claim) Unwrap() error   { return c.err }
func (c claim) Permanent() bool { return c.permanent }
func (c claim) Retryable() bool { return c.retryable }

func TestTagsDecide(t *testing.T) {
	t.Parallel()
	gone := fault.Permanent(errBoom, fault.WithReason("gone"))
	busy := fault.RetryAfter(time.Minute, errBoom, fault.WithReason("busy"))
	limited := &fault.HTTPError{Status: 429, Delay: 7 * time.Second}

	dead := func(reason string) fault.Decision {
		return fault.Decision{Class: permanent, Reason: reason, Rule: "tag.permanent"}
	}
	retry := func(reason string, after time.Duration) fault.Decision {
		return fault.Decision{Class: retryable, Reason: reason, Rule: "tag.retryable", RetryAfter: after}
	}
	tests := []struct {
		name string
		err  error
		want fault.Decision
	}{
		{"permanent", fault.Permanent(errBoom), dead("tagged")},
		{"permanent with a reason", gone, dead("gone")},
		{"retryable", fault.Retryable(errBoom), retry("tagged", 0)},
		{"retry after", busy, retry("busy", time.Minute)},
		{"negative delay names none", fault.RetryAfter(-1, errBoom), retry("tagged", 0)},
		{"empty reason is none", fault.Retryable(errBoom, fault.WithReason("")), retry("tagged", 0)},

		{"outermost wins: permanent", fault.Permanent(fmt.Errorf("x: %w", busy)), dead("tagged")},
		{"outermost wins: retryable", fault.Retryable(fmt.Errorf("x: %w", gone)), retry("tagged", 0)},
		{"bare tag keeps reason and delay", fault.Retryable(fmt.Errorf("x: %w", busy)), retry("busy", time.Minute)},
		{"outermost delay wins", fault.RetryAfter(time.Second, busy), retry("busy", time.Second)},
		{"delay of the error inside", fault.Retryable(limited), retry("tagged", 7*time.Second)},
		{"tag decides before every rule", fault.Permanent(limited), dead("tagged")},

		{"join: permanent wins first", errors.Join(gone, busy), dead("gone")},
		{"join: permanent wins last", errors.Join(errBoom, busy, gone), dead("gone")},
		{"join: deep permanent wins", errors.Join(busy, fmt.Errorf("x: %w", errors.Join(errBoom, gone))), dead("gone")},
		{"several %w: permanent wins", fmt.Errorf("%w, then %w", busy, gone), dead("gone")},
		{"join below a tag", fault.Retryable(errors.Join(gone, errBoom)), retry("tagged", 0)},
		{"join: one branch tagged", errors.Join(errBoom, busy), retry("busy", time.Minute)},
		{"join: hidden permanent does not count", errors.Join(busy, fault.Retryable(gone)), retry("busy", time.Minute)},
		{"join: longest delay", errors.Join(busy, fault.RetryAfter(time.Hour, errBoom, fault.WithReason("busy"))),
			retry("busy", time.Hour)},

		{"own type: permanent", fmt.Errorf("x: %w", claim{permanent: true}), dead("tagged")},
		{"own type: retryable", fmt.Errorf("x: %w", claim{retryable: true}), retry("tagged", 0)},
		{"own type: both", claim{permanent: true, retryable: true}, dead("tagged")},
		{"own type: neither has no effect", claim{err: gone}, dead("gone")},
		{"own type around a tag", claim{retryable: true, err: gone}, retry("tagged", 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, fault.Classify(t.Context(), tt.err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTagsSurviveWrapping(t *testing.T) {
	t.Parallel()
	for name, tag := range map[string]error{
		"tag.permanent": fault.Permanent(errBoom),
		"tag.retryable": fault.Retryable(errBoom),
	} {
		err := tag
		for depth := range 5 {
			err = fmt.Errorf("%d: %w", depth, err)
		}
		err = errors.Join(errors.New("other"), err)
		if got := fault.Classify(t.Context(), err); got.Rule != name {
			t.Errorf("five deep in a join: rule %q, want %q", got.Rule, name)
		}
		if !errors.Is(err, errBoom) {
			t.Error("the tagged error is not found any more")
		}
		if got := fault.Classify(t.Context(), fmt.Errorf("lost: %v", err)); got.Rule != fault.RuleUnknown {
			t.Errorf("%%v: rule %q, but it loses the tag", got.Rule)
		}
	}
}

func TestTagsKeepTheText(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		fault.Permanent(errBoom, fault.WithReason("gone")), fault.Retryable(errBoom), fault.RetryAfter(time.Hour, errBoom),
	} {
		if got := err.Error(); got != "boom" {
			t.Errorf("text %q, want that of the tagged error", got)
		}
	}
}

func TestTagOfNilIsNil(t *testing.T) {
	t.Parallel()
	for i, err := range []error{
		fault.Permanent(nil), fault.Retryable(nil, fault.WithReason("busy")), fault.RetryAfter(time.Hour, nil),
	} {
		if err != nil {
			t.Errorf("function %d made an error of nil", i)
		}
	}
}

func inner() error { return fault.Retryable(errBoom) }
func outer() error { return fault.Permanent(fmt.Errorf("outer: %w", inner())) }

func TestStack(t *testing.T) {
	t.Parallel()
	const pkg = "github.com/sqsafe/sqsafe/fault_test"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"of the caller", inner(), pkg + ".inner"},
		{"of the outermost tag", fmt.Errorf("x: %w", outer()), pkg + ".outer"},
		{"of the tag that wins a join", errors.Join(inner(), outer()), pkg + ".outer"},
		{"below an own type that decides", claim{permanent: true, err: inner()}, pkg + ".inner"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(fault.Stack(tt.err), "\n")
			if lines[0] != tt.want {
				t.Errorf("first function %q, want %q", lines[0], tt.want)
			}
			if file, _, _ := strings.Cut(lines[1], ":"); file != "\t"+pkg+"/tag_test.go" {
				t.Errorf("first file %q", file)
			}
			if len(lines)%2 != 0 {
				t.Errorf("%d lines, want two for each frame", len(lines))
			}
		})
	}
}

func TestStackIsEmptyWithoutTag(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errBoom, claim{permanent: true}} {
		if got := fault.Stack(err); got != "" {
			t.Errorf("%v has a stack:\n%s", err, got)
		}
	}
}

func TestStackIsBounded(t *testing.T) {
	t.Parallel()
	var deep func(n int) error
	deep = func(n int) error {
		if n == 0 {
			return fault.Retryable(errBoom)
		}
		return deep(n - 1)
	}
	if got := strings.Count(fault.Stack(deep(100)), "\n\t"); got != 32 {
		t.Errorf("%d frames, want 32", got)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	broken := make([]error, 20)
	for i := range broken {
		broken[i] = errBoom
	}
	tests := []struct {
		name string
		err  error
		want []string
	}{
		{"nil", nil, nil},
		{"without tags and wrappers that add text",
			fault.Permanent(fmt.Errorf("x: %w", &fault.DecodeError{Err: fault.Retryable(errBoom)})),
			[]string{"*fault.DecodeError", "*errors.errorString"}},
		{"joins in order",
			errors.Join(&fault.ValidationError{Err: errBoom}, fmt.Errorf("%w %w", claim{}, &fault.HTTPError{})),
			[]string{"*fault.ValidationError", "*errors.errorString", "fault_test.claim", "*fault.HTTPError"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, fault.Types(tt.err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := len(fault.Types(errors.Join(broken...))); got != 16 {
		t.Errorf("%d types of %d errors, want 16", got, len(broken))
	}
}
