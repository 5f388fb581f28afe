package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// check is one statement about a service, tried with its client, which E has.
type check[E any] struct {
	// id is stable: service/area/name.
	id string
	// doc names the expected behaviour, in one sentence.
	doc string
	// basis is where the expectation comes from.
	basis basis
	// debatable is empty for a check whose failure is a departure from the
	// documentation. Otherwise it says why the documentation does not settle
	// the matter.
	debatable string
	run       func(t T, e E)
}

// basis is where an expectation comes from.
type basis string

const (
	documented basis = ""         // the documentation of AWS
	recorded   basis = "recorded" // recordings of AWS's answers that open-source emulators keep
	said       basis = "said"     // tests of open-source emulators that were not run on AWS
)

// T is the test of one check.
type T struct {
	*testing.T
	ctx      context.Context
	expected string
	basis    basis
	excuse   string  // why the check is skipped when it fails; empty: it fails
	skipped  *string // the failure that was excused
}

// Context ends when the check has taken too long.
func (t T) Context() context.Context { return t.ctx }

// Fatalf ends the check, as failed or as excused. It must be called from the
// goroutine that runs the check.
func (t T) Fatalf(format string, args ...any) {
	t.Helper()
	t.Logf("expected: %s", t.expected)
	if t.basis != documented {
		t.Logf("the documentation does not say so: %s", t.basis)
	}
	message := fmt.Sprintf(format, args...)
	if t.excuse != "" {
		*t.skipped = t.excuse + ": " + message
		t.SkipNow()
	}
	t.T.Fatal(message)
}

const pollInterval = 50 * time.Millisecond

// wait lets time pass.
func wait(t T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatalf("the check takes too long")
	}
}

// eventually calls f until it returns nil, at most for the time within plus
// the slack, and fails the check with the last error.
func eventually(t T, within time.Duration, f func() error) {
	t.Helper()
	deadline := time.Now().Add(within + *slack)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v", err)
		}
		wait(t, pollInterval)
	}
}

// must stops the check when err is an error that it does not expect.
func must(t T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %s", what, describe(err))
	}
}

// equal stops the check when got is not want, and else logs the value.
func equal[V comparable](t T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %s, want %s", what, text(got), text(want))
	}
	t.Logf("%s: %s", what, text(got))
}

func text(v any) string {
	if s := fmt.Sprint(v); s != "" {
		return s
	}
	return "nothing"
}

// isError reports whether err is a modeled error of type E.
func isError[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// wantError stops the check unless err is a modeled error of type E.
func wantError[E error](t T, err error) {
	t.Helper()
	if !isError[E](err) {
		var e E
		t.Fatalf("want %s, got %s", strings.TrimPrefix(fmt.Sprintf("%T", e), "*types."), describe(err))
	}
	t.Logf("%s", describe(err))
}

// wantRejected stops the check unless err is the service's refusal of the
// request. A broken answer, a server error and an action that the endpoint
// does not know are no refusal.
func wantRejected(t T, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted")
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("not an error of the service: %s", describe(err))
	}
	var resp *smithyhttp.ResponseError
	if errors.As(err, &resp) && resp.HTTPStatusCode() >= 500 {
		t.Fatalf("HTTP status %d: %s", resp.HTTPStatusCode(), describe(err))
	}
	for _, code := range []string{"InvalidAction", "UnknownOperation", "NotImplemented"} {
		if strings.Contains(api.ErrorCode(), code) {
			t.Fatalf("the endpoint does not know the action: %s", describe(err))
		}
	}
	t.Logf("%s", describe(err))
}

// describe gives the code and message of a service error, or the Go error.
func describe(err error) string {
	if err == nil {
		return "no error"
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return shorten(api.ErrorCode() + ": " + api.ErrorMessage())
	}
	return shorten(err.Error())
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 240 {
		s = string(r[:240]) + "..."
	}
	return s
}

// unique returns a name that no other run uses.
func unique(prefix string) string {
	return fmt.Sprintf("%s-%016x", prefix, rand.Uint64())
}

// cleanupContext is for requests made after the check has ended.
func cleanupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 5*time.Second)
}
