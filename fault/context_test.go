package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

var errDraining = errors.New("draining")

func TestJobDeadlineClientTimeoutAndShutdownAreDistinguished(t *testing.T) {
	t.Parallel()
	alive := t.Context()
	expired, cancel := context.WithDeadline(alive, time.Unix(0, 0))
	t.Cleanup(cancel)
	expiredBecause, cancel := context.WithDeadlineCause(alive, time.Unix(0, 0), errors.New("out of time"))
	t.Cleanup(cancel)
	cancelled, cancel := context.WithCancel(alive)
	cancel()
	drained, drain := context.WithCancelCause(alive)
	drain(errDraining)
	timedOut, drain := context.WithCancelCause(alive)
	drain(context.DeadlineExceeded)

	get := func(err error) error { return &url.Error{Op: "Get", URL: "http://pay.example", Err: err} }
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		rule string
	}{
		{"job: any error after its deadline", expired, errors.New("gave up"), "deadline"},
		{"job: its deadline decides before the error", expired, &fault.HTTPError{Status: 422}, "deadline"},
		{"job: a deadline with a cause", expiredBecause, get(context.Cause(expiredBecause)), "deadline"},
		{"job: its deadline in an error of a client", expired, get(context.DeadlineExceeded), "deadline"},

		{"client: its own timeout", alive, get(context.DeadlineExceeded), "net.timeout"},
		{"client: its own timeout while the job is cancelled", cancelled, get(context.DeadlineExceeded), "net.timeout"},
		{"client: cancelled by itself", alive, get(context.Canceled), "unknown"},
		{"client: a cause from another context", cancelled, get(errDraining), "unknown"},

		{"shutdown: cancelled", cancelled, get(context.Canceled), "cancelled"},
		{"shutdown: with a cause", drained, get(context.Canceled), "cancelled"},
		{"shutdown: only the cause is reported", drained, get(errDraining), "cancelled"},
		{"shutdown: a cause that looks like a timeout", timedOut, get(context.DeadlineExceeded), "cancelled"},
		{"shutdown: other errors keep their meaning", drained, &fault.HTTPError{Status: 422}, "http.4xx"},
		{"shutdown: unknown errors stay unknown", drained, errors.New("gave up"), "unknown"},

		// A tag counts before the job's context: the code that tags an error
		// knows more about it.
		{"a permanent tag comes first", expired, fault.Permanent(context.DeadlineExceeded), "tag.permanent"},
		{"a permanent tag comes first, with time left", alive, fault.Permanent(context.DeadlineExceeded), "tag.permanent"},
		{"a permanent tag comes first, at a shutdown", cancelled, fault.Permanent(context.Canceled), "tag.permanent"},
		{"a retryable tag comes first", expired, fault.Retryable(context.DeadlineExceeded), "tag.retryable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{tt.err, fmt.Errorf("charge: %w", tt.err), errors.Join(errBoom, tt.err)} {
				if got := fault.Classify(tt.ctx, err); got.Rule != tt.rule {
					t.Errorf("%v: rule %q, want %q", err, got.Rule, tt.rule)
				}
			}
		})
	}
}

func TestShutdownDuringARealCall(t *testing.T) {
	t.Parallel()
	ctx, drain := context.WithCancelCause(t.Context())
	hung := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		drain(errDraining)
		<-hung
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hung) })

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, slow.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := slow.Client().Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("the call succeeded")
	}
	want := fault.Decision{Class: retryable, Reason: "cancelled", Rule: "cancelled"}
	if got := fault.Classify(ctx, err); got != want {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
}

func TestTwoDeadlinesOfOneCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		job, call time.Duration
		rule      string
	}{
		{time.Minute, time.Second, "net.timeout"},
		{time.Second, time.Minute, "deadline"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				job, cancel := context.WithTimeout(t.Context(), tt.job)
				defer cancel()
				call, cancel := context.WithTimeout(job, tt.call)
				defer cancel()
				<-call.Done()
				wantRuleIn(job, t, call.Err(), tt.rule)
			})
		})
	}
}
