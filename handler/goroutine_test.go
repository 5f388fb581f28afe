package handler_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// TestGo runs a handler that starts goroutines: what they say is the message's.
func TestGo(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration, err error) func(context.Context) error {
		return func(context.Context) error { <-time.After(d); return err }
	}
	none := func(context.Context) error { return nil }
	panics := func(context.Context) error { panic("boom") }
	type tasks = []func(context.Context) error
	tests := []struct {
		name      string
		handler   error
		tasks     tasks
		permanent bool // PanicAsPermanent
		outcome   string
		reason    string
		took      time.Duration
	}{
		{"nothing wrong", nil, tasks{none, after(3*time.Second, nil)}, false, "done", "", 3 * time.Second},
		{"an error", nil, tasks{none, after(2*time.Second, fault.Permanent(errOdd))}, false,
			"dead", fault.ReasonTagged, 2 * time.Second},
		{"permanent wins", fault.Retryable(errOdd), tasks{after(time.Second, fault.Permanent(errOdd))}, false,
			"dead", fault.ReasonTagged, time.Second},
		{"a panic", nil, tasks{panics}, false,
			"crash", handler.ReasonPanic, 0},
		{"a panic beside an error", fault.Permanent(errOdd), tasks{panics}, false, "crash", handler.ReasonPanic, 0},
		{"Goexit", nil, tasks{func(context.Context) error { runtime.Goexit(); return nil }}, false,
			"crash", handler.ReasonPanic, 0},
		{"a panic taken for permanent", nil, tasks{panics}, true,
			"dead", handler.ReasonPanic, 0},
		{"of a goroutine's goroutine", nil, tasks{func(ctx context.Context) error {
			handler.Go(ctx, after(4*time.Second, errOdd))
			return nil
		}}, false, "retry", fault.ReasonUnclassified, 4 * time.Second},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			q := newQueues()
			o := q.options()
			o.PanicAsPermanent = tt.permanent
			h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
				for _, task := range tt.tasks {
					handler.Go(ctx, task)
				}
				return tt.handler
			})
			start := time.Now()
			func() {
				defer func() { _ = recover() }()
				handle(t, newProcessor(h, o), record("m1", "x"))
			}()
			got := []string{q.outcomeOf(t, "m1", "outcome"), q.outcomeOf(t, "m1", "reason")}
			if diff := cmp.Diff([]string{tt.outcome, tt.reason}, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if took := time.Since(start); took != tt.took {
				t.Errorf("took %v, want %v", took, tt.took)
			}
		})
	}
}

// TestAPanicOfAGoroutineEndsTheWaitForIt: the handler may wait for its result.
func TestAPanicOfAGoroutineEndsTheWaitForIt(t *testing.T) {
	t.Parallel()
	for _, permanent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueues()
			o := q.options()
			o.PanicAsPermanent = permanent
			h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
				result := make(chan int)
				handler.Go(ctx, func(context.Context) error { panic("boom") })
				select {
				case <-result:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			start := time.Now()
			func() {
				defer func() { _ = recover() }()
				handle(t, newProcessor(h, o), record("m1", "x"))
			}()
			if got := q.outcomeOf(t, "m1", "reason"); got != handler.ReasonPanic || time.Since(start) != 0 {
				t.Errorf("reason %s after %v, want the panic at once", got, time.Since(start))
			}
		})
	}
}

// TestGoroutinesAreWaitedForBesideAPermanentPanic, as the process goes on.
func TestGoroutinesAreWaitedForBesideAPermanentPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newQueues().options()
		o.PanicAsPermanent = true
		over := false
		h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
			handler.Go(ctx, func(context.Context) error { <-time.After(time.Second); over = true; return nil })
			panic("boom")
		})
		if ids := handle(t, newProcessor(h, o), record("m1", "x")); len(ids) != 0 || !over {
			t.Errorf("reported %v, goroutine over: %v", ids, over)
		}
	})
}

// TestAPanicDoesNotWaitForGoroutines: no more is to be started in the process.
func TestAPanicDoesNotWaitForGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := handler.Func(func(ctx context.Context, m *handler.Message) error {
			handler.Go(ctx, func(ctx context.Context) error { return takes(time.Hour)(ctx, m) })
			panic("boom")
		})
		start := time.Now()
		crashes(t.Context(), t, newProcessor(h, newQueues().options()), event(record("m1", "x")))
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

// TestGoOutsideOfARun has no message to report to: the error is logged.
func TestGoOutsideOfARun(t *testing.T) {
	// Not parallel: it changes the default logger.
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	task := func(context.Context) error { return errors.New("lost") }
	tests := map[string]func(t *testing.T, o *handler.Options) handler.Func{
		"no message": func(t *testing.T, _ *handler.Options) handler.Func {
			handler.Go(t.Context(), task)
			return byBody(nil)
		},
		"middleware after": func(_ *testing.T, o *handler.Options) handler.Func {
			o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					err := next(ctx, m)
					handler.Go(ctx, task)
					return err
				}
			}}
			return byBody(nil)
		},
		"after the handler": func(*testing.T, *handler.Options) handler.Func {
			return func(ctx context.Context, _ *handler.Message) error {
				go func() {
					<-ctx.Done() // the context of a message ends with it
					handler.Go(ctx, task)
				}()
				return nil
			}
		},
	}
	for name, set := range tests {
		synctest.Test(t, func(t *testing.T) {
			var lines strings.Builder
			slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil)))
			q := newQueues()
			o := q.options()
			handle(t, newProcessor(set(t, o), o), record("m1", "x"))
			synctest.Wait()
			if got := q.outcomeOf(t, "m1", "outcome"); got != "done" || !strings.Contains(lines.String(), "lost") {
				t.Errorf("%s: outcome %s, log %q", name, got, &lines)
			}
		})
	}
}

// TestGoroutinesOfMiddlewareBeforeTheHandler are the handler's, and where it does
// not run, a panic still counts and an error is logged.
func TestGoroutinesOfMiddlewareBeforeTheHandler(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		runs     bool
		task     func(context.Context) error
		want     string
		wantLine int
	}{
		{"an error, and it runs", true, func(context.Context) error { return errOdd }, "retry", 0},
		{"an error, and it does not run", false, func(context.Context) error { return errOdd }, "duplicate", 1},
		{"a panic, and it does not run", false, func(context.Context) error { panic("boom") }, "crash", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			o := q.options()
			o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					handler.Go(ctx, tt.task)
					if tt.runs {
						return next(ctx, m)
					}
					return &handler.Result{Outcome: handler.OutcomeDuplicate}
				}
			}}
			func() {
				defer func() { _ = recover() }()
				handle(t, newProcessor(byBody(nil), o), record("m1", "x"))
			}()
			if got := q.outcomeOf(t, "m1", "outcome"); got != tt.want {
				t.Errorf("outcome %s, want %s", got, tt.want)
			}
			if got := q.logged(t, "goroutine failed outside of the handler", "error"); len(got) != tt.wantLine {
				t.Errorf("logged %v", got)
			}
		})
	}
}

func TestGoroutinesOfPrepareBelongToIt(t *testing.T) {
	t.Parallel()
	q := newQueues()
	starts := func(ctx context.Context, m *handler.Message) error {
		handler.Go(ctx, func(context.Context) error {
			if m.Body == "boom" {
				panic("boom")
			}
			return byBody(script)(ctx, m)
		})
		return nil
	}
	ids := handle(t, newProcessor(prepares{look: starts}, q.options()),
		record("m1", "good"), record("m2", "odd"), record("m3", "boom"))
	if len(ids) != 0 {
		t.Errorf("reported %v", ids)
	}
	if diff := cmp.Diff([]string{"m2", "m3"}, q.dead()); diff != "" {
		t.Errorf("dead (-want +got):\n%s", diff)
	}
	if got := q.outcomeOf(t, "m3", "reason"); got != handler.ReasonPanic {
		t.Errorf("m3: %s", got)
	}
}

func TestATagBesideAPanicDoesNotMakeUpForIt(t *testing.T) {
	t.Parallel()
	h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
		handler.Go(ctx, func(context.Context) error { panic("boom") })
		return fault.Retryable(errors.New("something else"))
	})
	p := newProcessor(h, newQueues().options())
	if crash := crashes(t.Context(), t, p, event(record("m1", "x"))); !crash.ShouldExit {
		t.Errorf("the runtime sees %+v, want an exit", crash)
	}
}
