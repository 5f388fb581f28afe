package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
)

// tampers is middleware that changes each message before the job sees it.
func tampers(change func(m *handler.Message)) handler.Middleware {
	return func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			change(m)
			return next(ctx, m)
		}
	}
}

func TestTheAnswerHasTheIdsOfTheEvent(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "unknown", "m2"} {
		for _, concurrency := range []int{1, 8} {
			rename := func(m *handler.Message) {
				if m.Body == "reset" {
					m.MessageId = id
				}
			}
			inMiddleware, inRestore := newQueues(), newQueues()
			for q, o := range map[*queues]*handler.Options{
				inMiddleware: {Middleware: []handler.Middleware{tampers(rename)}},
				inRestore:    {Restore: rename},
			} {
				o.Logger, o.Queue, o.Concurrency = q.options().Logger, q, concurrency
				ids := handle(t, newProcessor(byBody(script), o), record("m1", "reset"), record("m2", "good"))
				if diff := cmp.Diff([]string{"m1"}, ids); diff != "" {
					t.Errorf("renamed to %q: reported (-want +got):\n%s", id, diff)
				}
				if got := q.outcomeOf(t, "m1", "outcome"); got != "retry" {
					t.Errorf("renamed to %q: the log of m1 says %q", id, got)
				}
			}
		}
	}
}

func TestACrashDeletesByTheIdsOfTheEvent(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Middleware = []handler.Middleware{tampers(func(m *handler.Message) { m.MessageId = "m2" })}
	h := byBody(map[string]func(context.Context, *handler.Message) error{
		"boom": func(context.Context, *handler.Message) error { panic("boom") },
	})
	crashes(t.Context(), t, newProcessor(h, o), event(record("m1", "good"), record("m2", "boom")))
	if diff := cmp.Diff([]string{"m1"}, q.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestAGroupStaysInOrderWhateverMiddlewareMakesOfIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *handler.Message){
		"group taken away": func(m *handler.Message) { delete(m.Attributes, "MessageGroupId") },
		"group changed":    func(m *handler.Message) { m.Attributes["MessageGroupId"] = m.MessageId },
		"another queue":    func(m *handler.Message) { m.EventSourceARN = standardARN },
	} {
		for _, concurrency := range []int{1, 8} {
			t.Run(fmt.Sprint(name, " ", concurrency), func(t *testing.T) {
				t.Parallel()
				q := newQueues()
				var batch handler.Report
				o := q.options()
				o.Middleware, o.Concurrency = []handler.Middleware{tampers(change)}, concurrency
				o.Hooks.OnBatch = keep(&batch)
				ids := handle(t, newProcessor(byBody(script), o),
					grouped("a", record("a1", "good")), grouped("a", record("a2", "reset")),
					grouped("a", record("a3", "good")), grouped("b", record("b1", "good")))
				if diff := cmp.Diff([]string{"a2", "a3"}, ids); diff != "" {
					t.Errorf("reported (-want +got):\n%s", diff)
				}
				if got := q.outcomeOf(t, "a3", "reason"); got != handler.ReasonGroupHead {
					t.Errorf("a3 came back for %q", got)
				}
				if batch.Queue != "jobs.fifo" {
					t.Errorf("the report is of queue %q", batch.Queue)
				}
			})
		}
	}
}

// What a constructor is given wrongly is named; where it returns an error, in that.
func TestMistakesOfConstructionAreNamed(t *testing.T) {
	t.Parallel()
	good := handler.Func(func(context.Context, *handler.Message) error { return nil })
	nothing := func(handler.Func) handler.Func { return nil }
	pass := func(next handler.Func) handler.Func { return next }
	const noHandler = "handler: the handler is nil; give it one, such as handler.JSON(charge)"
	for name, tt := range map[string]struct {
		handler handler.Handler
		options *handler.Options
		want    string
	}{
		"no handler": {nil, nil, noHandler},
		"a nil Func": {handler.Func(nil), nil, noHandler},
		"a nil wrapper": {good, &handler.Options{Middleware: []handler.Middleware{pass, nothing, pass}},
			"handler: middleware 2 of 3, handler_test.TestMistakesOfConstructionAreNamed.func2, returned a nil Func; " +
				"have it return a Func that calls next"},
		"a backoff": {good, &handler.Options{Backoff: backoff.Exponential{MaxAttempts: -1}}, "MaxAttempts"},
		"a backoff by reason": {good, &handler.Options{
			BackoffByReason: map[string]handler.Backoff{"rate": backoff.Exponential{Jitter: 2}},
		}, "handler: backoff rate"},
		"no attempts": {good, &handler.Options{Backoff: noRuns{}}, "Attempts() gives 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := handler.NewProcessor(tt.handler, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) || p != nil {
				t.Errorf("processor %v, error %v; want one that names %q", p, err, tt.want)
			}
		})
	}
	const noFunction = "handler.JSON: the function is nil; give it the one that does the work"
	if got := panicOf(func() { handler.JSON[order](nil) }); got != noFunction {
		t.Errorf("panic %v, want %q", got, noFunction)
	}
	if got := panicOf(func() { handler.Chain(nothing)(good) }); got == nil {
		t.Error("Chain took middleware that returns nil")
	}
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
