package handler_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// crashes runs a batch that is to panic and gives what the runtime would see.
func crashes(ctx context.Context, t *testing.T, p *handler.Processor, e events.SQSEvent) (
	out messages.InvokeResponse_Error,
) {
	t.Helper()
	defer func() {
		value, ok := recover().(messages.InvokeResponse_Error)
		if !ok {
			t.Errorf("want a panic with messages.InvokeResponse_Error")
		}
		out = value
	}()
	response, err := p.Handle(ctx, e)
	t.Errorf("returned %v, %v, want a panic", response, err)
	return out
}

func TestPanicEndsTheProcessWithoutLosingWhatIsDone(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.sendErr = map[string]error{"unsendable": errOdd}
	var ran []string
	h := byBody(map[string]func(context.Context, *handler.Message) error{
		"reset": script["reset"], "permanent": script["permanent"],
		"boom": func(context.Context, *handler.Message) error { panic("boom") },
		"after": func(context.Context, *handler.Message) error {
			ran = append(ran, "after")
			return nil
		},
	})
	crash := crashes(t.Context(), t, newProcessor(h, q.options()), event(
		record("good", "good"), record("reset", "reset"), record("dead", "permanent"),
		record("unsendable", "permanent"), record("boom", "boom"), record("after", "after")))
	if !crash.ShouldExit || crash.Message != "panic: boom" || crash.Type != "*handler.PanicError" {
		t.Errorf("the runtime sees %+v", crash)
	}
	if len(ran) != 0 {
		t.Error("a message started after the panic")
	}
	if diff := cmp.Diff([]string{"good", "dead"}, q.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"dead"}, q.dead()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if _, ok := q.hidden["boom"]; ok {
		t.Error("the panicking message's visibility was changed without a lease to go by")
	}
	for _, id := range []string{"reset", "unsendable", "after"} {
		if q.hidden[id] < time.Second {
			t.Errorf("%s is hidden for %v, want at least a second", id, q.hidden[id])
		}
	}
	if stack := q.outcomeOf(t, "boom", "stack"); !strings.Contains(stack, "handler_test") {
		t.Errorf("the log has the stack %q, want one that names the user's function", stack)
	}
}

func TestWhatCountsAsACrash(t *testing.T) {
	t.Parallel()
	middleware := func(next handler.Func) handler.Func {
		return func(context.Context, *handler.Message) error { panic("in middleware") }
	}
	says := func(r *handler.Result) handler.Middleware {
		return func(handler.Func) handler.Func { return fails(r) }
	}
	tests := []struct {
		name       string
		middleware handler.Middleware
		run        func(context.Context, *handler.Message) error
		want       string
	}{
		{"panic with an error", nil, func(context.Context, *handler.Message) error { panic(errOdd) }, "panic: odd"},
		{"nil map", nil, func(context.Context, *handler.Message) error {
			var m map[string]int
			m["x"] = 1
			return nil
		}, "panic: assignment to entry in nil map"},
		{"panic in middleware", middleware, nil, "panic: in middleware"},
		{"no outcome", says(&handler.Result{}), nil, "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newQueues().options()
			o.Middleware = []handler.Middleware{tt.middleware}
			h := handler.Func(func(ctx context.Context, m *handler.Message) error { return tt.run(ctx, m) })
			crash := crashes(t.Context(), t, newProcessor(h, o), event(record("m1", "x")))
			if crash.Message != tt.want {
				t.Errorf("message %q, want %q", crash.Message, tt.want)
			}
		})
	}
}

func TestAHandlerThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		release := make(chan struct{})
		h := byBody(map[string]func(context.Context, *handler.Message) error{
			"stuck": func(context.Context, *handler.Message) error { <-release; return nil },
		})
		crash := crashes(ctx, t, newProcessor(h, q.options()), event(record("m1", "good"), record("m2", "stuck")))
		if crash.Message != handler.ErrAbandoned.Error() {
			t.Errorf("message %q, want %q", crash.Message, handler.ErrAbandoned)
		}
		if ctx.Err() != nil {
			t.Error("settled after the invocation's end")
		}
		if diff := cmp.Diff([]string{"m1"}, q.deleted); diff != "" {
			t.Errorf("deleted (-want +got):\n%s", diff)
		}
		close(release)
	})
}

// The goroutine of a handler that was left behind may go on until the lease ends.
func TestAnAbandonedMessageWaitsForItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.ledger.lease = 30*time.Second, 60*time.Second
		release := make(chan struct{})
		h := handler.Func(func(context.Context, *handler.Message) error { <-release; return nil })
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, newProcessor(h, s.options), event(record("m1", "x")))
		// It is left behind after 27.75 s: the claim ends 34.25 s later, 2 s of them for
		// clocks that differ, and a tenth, which is half of the jitter, makes 37.675 s.
		if got := s.hidden["m1"]; got < 37*time.Second || got > 38*time.Second {
			t.Errorf("hidden for %v, want the rest of the lease and jitter", got)
		}
		close(release)
	})
}

func TestADeleteThatFailsBeforeTheCrashIsLogged(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.killErr = map[string]error{"m1": errOdd}
	h := byBody(map[string]func(context.Context, *handler.Message) error{
		"boom": func(context.Context, *handler.Message) error { panic("boom") },
	})
	crashes(t.Context(), t, newProcessor(h, q.options()), event(record("m1", "good"), record("m2", "boom")))
	if got := q.logged(t, "message not deleted", "messageId"); !cmp.Equal(got, []string{"m1"}) {
		t.Errorf("logged for %v, want m1", got)
	}
}

func TestAnEndedGoroutineIsACrashAndNotAHang(t *testing.T) {
	t.Parallel()
	ends := func(context.Context, *handler.Message) error { runtime.Goexit(); return nil }
	p := newProcessor(handler.Func(ends), newQueues().options())
	crash := crashes(t.Context(), t, p, event(record("m1", "x")))
	if crash.Message != "panic: runtime.Goexit called by the handler" {
		t.Errorf("message %q", crash.Message)
	}
	q := newQueues()
	handle(t, newProcessor(prepares{look: ends}, q.options()), record("m1", "x"), record("m2", "x"), record("m3", "x"))
	if len(q.letters) != 3 || q.letters[0].Failure.Reason != handler.ReasonPanic {
		t.Errorf("dead letters %v, want three of the panic in Prepare", q.letters)
	}
}

func TestADecoderThatNeverReturnsIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		release := make(chan struct{})
		h := prepares{look: byBody(map[string]func(context.Context, *handler.Message) error{
			"endless": func(context.Context, *handler.Message) error { <-release; return nil },
		})}
		crashes(ctx, t, newProcessor(h, q.options()), event(record("m1", "good"), record("m2", "endless")))
		if diff := cmp.Diff([]string{"m1"}, q.deleted); diff != "" || ctx.Err() != nil {
			t.Errorf("%v; deleted (-want +got):\n%s", ctx.Err(), diff)
		}
		close(release)
	})
}

func TestAPanicIsACrashWhateverItsValueSays(t *testing.T) {
	t.Parallel()
	h := handler.Func(func(context.Context, *handler.Message) error { panic(fault.Retryable(errOdd)) })
	p := newProcessor(h, newQueues().options())
	if crash := crashes(t.Context(), t, p, event(record("m1", "x"))); !crash.ShouldExit {
		t.Errorf("the runtime sees %+v, want an exit", crash)
	}
}
