package handler_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	for _, id := range []string{"", "stranger", "m2"} {
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
				ids := handle(t, handler.NewProcessor(byBody(script), o), record("m1", "reset"), record("m2", "good"))
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
	crashes(t.Context(), t, handler.NewProcessor(h, o), event(record("m1", "good"), record("m2", "boom")))
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
				ids := handle(t, handler.NewProcessor(byBody(script), o),
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

func TestTheProcessorsRandomSourceIsThatOfItsMessages(t *testing.T) {
	t.Parallel()
	o := newQueues().options()
	o.Random = func() float64 { return 0.25 }
	got := 0.0
	h := handler.Func(func(_ context.Context, m *handler.Message) error { got = m.Random(); return nil })
	handle(t, handler.NewProcessor(h, o), record("m1", ""))
	if got != 0.25 {
		t.Errorf("a message draws %v, want 0.25", got)
	}
	if alone := new(handler.Message).Random(); alone < 0 || alone >= 1 {
		t.Errorf("a message outside of a batch draws %v", alone)
	}
}

func TestMistakesOfConstructionAreNamed(t *testing.T) {
	t.Parallel()
	good := handler.Func(func(context.Context, *handler.Message) error { return nil })
	nothing := func(handler.Func) handler.Func { return nil }
	pass := func(next handler.Func) handler.Func { return next }
	for want, build := range map[string]func(){
		"handler.NewProcessor: the handler is nil; give it one, such as handler.JSON(charge)": func() {
			handler.NewProcessor(nil, nil)
		},
		"handler.JSON: the function is nil; give it the one that does the work": func() { handler.JSON[order](nil) },
		"handler.Chain: middleware 2 of 3 returned a nil Func; have it return a Func that calls next": func() {
			handler.NewProcessor(good, &handler.Options{Middleware: []handler.Middleware{pass, nothing, pass}})
		},
	} {
		if got := panicOf(build); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}
	if got := panicOf(func() { handler.NewProcessor(handler.Func(nil), nil) }); got == nil {
		t.Error("a nil Func was taken")
	}
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
