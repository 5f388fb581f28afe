package handler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/host"
)

// takes is a job that needs a time and heeds its context.
func takes(d time.Duration) func(context.Context, *handler.Message) error {
	return func(ctx context.Context, _ *handler.Message) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestNoMessageStartsInTheReserve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		timeout  time.Duration
		reserve  time.Duration
		each     time.Duration
		messages int
		want     []string // reported
	}{
		{"time for all", 30 * time.Second, 0, 5 * time.Second, 3, []string{}},
		{"the third would start in the last two seconds", 12 * time.Second, 0, 5 * time.Second, 3, []string{"m3"}},
		{"a tenth of a long timeout", 100 * time.Second, 0, 44 * time.Second, 3, []string{"m3"}},
		{"a reserve of its own", 30 * time.Second, 12 * time.Second, 9 * time.Second, 3, []string{"m3"}},
		{"never more than half", 4 * time.Second, time.Minute, 1 * time.Second, 3, []string{"m3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				q := newQueues()
				o := q.options()
				o.Reserve = tt.reserve
				response, err := newProcessor(handler.Func(takes(tt.each)), o).Handle(ctx,
					event(record("m1", "x"), record("m2", "x"), record("m3", "x")))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, reported(response)); diff != "" {
					t.Errorf("reported (-want +got):\n%s", diff)
				}
				if left, _ := ctx.Deadline(); time.Until(left) <= 0 {
					t.Error("the answer came after the invocation's end")
				}
			})
		})
	}
}

// E12: a message whose deadline had passed when it came is not run, with a ledger or
// without one, and costs nothing: the clock of an emulator is mostly the reason, as the
// log says.
func TestADeadlineThatHadPassed(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, -time.Hour} {
		for _, ledger := range []bool{true, false} {
			inBubble(t, fmt.Sprint(timeout, ledger), func(t *testing.T) {
				s := newScene()
				if !ledger {
					s.options.Ledger = nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				response, err := s.processor().Handle(ctx,
					event(record("m1", "x"), received(3, record("m2", "x")), grouped("g", record("m3", "x"))))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"m1", "m2", "m3"}, reported(response)); diff != "" || len(s.events) != 0 {
					t.Errorf("did %v; reported (-want +got):\n%s", s.events, diff)
				}
				for _, id := range []string{"m1", "m2", "m3"} {
					if got := s.outcomeOf(t, id, "outcome") + " " + s.outcomeOf(t, id, "reason"); got != "deferred no_time" {
						t.Errorf("%s: %s", id, got)
					}
				}
				const warning = "deadline had passed when the invocation began"
				if got := s.logged(t, warning, "remedy"); len(got) != 1 || !strings.Contains(got[0], "clock") {
					t.Errorf("remedies %v, want one that names the clock", got)
				}
			})
		}
	}
}

// TestCutOff cancels a job at the reserve. Whether that costs it budget depends
// on the time that it had.
func TestCutOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		timeout         time.Duration
		before          time.Duration // what the first message takes
		outcome, reason string
	}{
		{"had most of the time", 30 * time.Second, time.Second, "retry", fault.ReasonDeadline},
		{"had less than half", 30 * time.Second, 20 * time.Second, "deferred", handler.ReasonNoTime},
		{"had all of a short time", 3 * time.Second, 0, "retry", fault.ReasonDeadline},
		{"had little of a short time", 3 * time.Second, time.Second, "deferred", handler.ReasonNoTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				q := newQueues()
				h := byBody(map[string]func(context.Context, *handler.Message) error{
					"first": takes(tt.before), "slow": takes(time.Hour),
				})
				p := newProcessor(h, q.options())
				response, err := p.Handle(ctx, event(record("m1", "first"), record("m2", "slow")))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"m2"}, reported(response)); diff != "" {
					t.Errorf("reported (-want +got):\n%s", diff)
				}
				got := []string{q.logged(t, handler.LogOutcome, "outcome")[1], q.logged(t, handler.LogOutcome, "reason")[1]}
				if diff := cmp.Diff([]string{tt.outcome, tt.reason}, got); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// What counts is the time that the function had, whenever its run began.
func TestAFunctionThatIsCalledLateCostsNothing(t *testing.T) {
	t.Parallel()
	for before, want := range map[time.Duration]string{
		time.Second: "retry " + fault.ReasonDeadline, 20 * time.Second: "deferred " + handler.ReasonNoTime,
	} {
		inBubble(t, before.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			q := newQueues()
			o := q.options()
			o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					<-time.After(before)
					return next(ctx, m)
				}
			}}
			if _, err := newProcessor(handler.Func(takes(time.Hour)), o).Handle(ctx, event(record("m1", "x"))); err != nil {
				t.Fatal(err)
			}
			got := q.logged(t, handler.LogOutcome, "outcome")[0] + " " + q.logged(t, handler.LogOutcome, "reason")[0]
			if got != want {
				t.Errorf("called after %v: %s, want %s", before, got, want)
			}
		})
	}
}

func TestAClientTimeoutIsNotTheDeadline(t *testing.T) {
	t.Parallel()
	q := newQueues()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	p := newProcessor(handler.Func(fails(context.DeadlineExceeded)), q.options())
	if _, err := p.Handle(ctx, event(record("m1", "x"))); err != nil {
		t.Fatal(err)
	}
	if got := q.logged(t, handler.LogOutcome, "reason")[0]; got != fault.ReasonTimeout {
		t.Errorf("reason %q, want %q", got, fault.ReasonTimeout)
	}
}

func TestDeferredDelaysGrowWithReceives(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]time.Duration{1: 2 * time.Second, 3: 6 * time.Second, 9: 90 * time.Second} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q := newQueues()
		p := newProcessor(byBody(nil), q.options())
		response, err := p.Handle(ctx, event(received(receives, record("m1", "x"))))
		if err != nil {
			t.Fatal(err)
		}
		if got := q.hidden["m1"]; len(reported(response)) != 1 || got < want-time.Second || got > want {
			t.Errorf("receive %d: hidden for %v, want %v rounded by chance", receives, got, want)
		}
	}
}

// A deferral past half of the receives is long: else overload or a stop of minutes would use
// up the other half, and SQS would move a healthy job.
func TestADeferralPastHalfOfTheReceivesIsLong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		maxReceives, receives int
		long                  bool
	}{{10, 5, false}, {10, 6, true}, {10, 9, true}, {0, 15, false}, {0, 16, true}, {0, 1000, true}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q := newQueues()
		o := q.options()
		o.MaxReceives = tt.maxReceives
		_, err := newProcessor(byBody(nil), o).Handle(ctx, event(received(tt.receives, record("m1", "x"))))
		if err != nil {
			t.Fatal(err)
		}
		got := q.hidden["m1"]
		if long := got >= 5*time.Minute && got <= 15*time.Minute; long != tt.long || !long && got > 2*time.Minute {
			t.Errorf("receive %d of %d: hidden for %v, want 5 to 15 minutes: %v", tt.receives, tt.maxReceives, got, tt.long)
		}
	}
}

func TestShutdownIsNoFailureOfTheJob(t *testing.T) {
	t.Parallel()
	q := newQueues()
	ctx, cancel := context.WithCancel(t.Context())
	h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
		cancel()
		return errors.Join(errors.New("stopped"), ctx.Err())
	})
	if _, err := newProcessor(h, q.options()).Handle(ctx, event(received(30, record("m1", "x")))); err != nil {
		t.Fatal(err)
	}
	if got := q.logged(t, handler.LogOutcome, "outcome")[0]; got != "deferred" || len(q.letters) != 0 {
		t.Errorf("outcome %s with %d dead letters, want deferred", got, len(q.letters))
	}
}

// A job that ends its own context has nothing of it, but for the error of that context.
func TestAContextThatMiddlewareCancels(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{context.Canceled: "deferred", errOdd: "retry"} {
		q := newQueues()
		o := q.options()
		o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return next(ctx, m)
			}
		}}
		handle(t, newProcessor(handler.Func(fails(err)), o), record("m1", "x"))
		if got := q.outcomeOf(t, "m1", "outcome"); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// A host without a deadline that cancels a batch waits a second for a handler that
// ignores it. What is left behind then costs nothing and is not blamed, and the process
// is not taken for a crashed one.
func TestAHostThatStopsBlamesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		var told handler.Ending
		s.ledger.settled = func(_ *handler.Message, e handler.Ending) *handler.Result { told = e; return nil }
		ctx, cancel := context.WithCancel(t.Context())
		h := handler.Func(func(context.Context, *handler.Message) error {
			<-time.After(time.Hour)
			return nil
		})
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		response, err := newProcessor(h, s.options).Handle(ctx, event(record("m1", "x")))
		if err != nil || !cmp.Equal([]string{"m1"}, reported(response)) || time.Since(start) != 61*time.Second {
			t.Errorf("reported %v, %v after %v", reported(response), err, time.Since(start))
		}
		if got := s.outcomeOf(t, "m1", "outcome") + " " + s.outcomeOf(t, "m1", "reason"); got != "deferred cancelled" {
			t.Errorf("m1 is %s", got)
		}
		if !told.Running || told.Blamed {
			t.Errorf("the ledger was told %+v", told)
		}
		<-time.After(time.Hour)
	})
}

func TestATimeoutOfMiddlewareCostsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		o := q.options()
		o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
				return next(ctx, m)
			}
		}}
		slow := func(ctx context.Context, _ *handler.Message) error {
			<-ctx.Done()
			<-time.After(2 * time.Second) // slow to return, but in time
			return ctx.Err()
		}
		if _, err := newProcessor(handler.Func(slow), o).Handle(ctx, event(record("m1", "x"))); err != nil {
			t.Fatal(err)
		}
		if got := q.logged(t, handler.LogOutcome, "outcome"); !cmp.Equal(got, []string{"retry"}) {
			t.Errorf("outcomes %v, want retry", got)
		}
	})
}

func TestADeadLetterQueueThatHangsLeavesTimeForTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		q.onSend = func(ctx context.Context) { <-ctx.Done() }
		q.sendErr = map[string]error{"m1": errOdd}
		response, err := newProcessor(byBody(script), q.options()).Handle(ctx,
			event(record("m1", "permanent"), record("m2", "reset")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"m1", "m2"}, reported(response)); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
		if q.hidden["m2"] != time.Second || ctx.Err() != nil {
			t.Errorf("m2 hidden for %v, %v", q.hidden["m2"], ctx.Err())
		}
	})
}

// TestLateLettersLeaveTimeForTheRest, even more of them than are sent at a time.
func TestLateLettersLeaveTimeForTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		q.onSend = func(ctx context.Context) { <-ctx.Done() }
		o := q.options()
		o.Concurrency = 100
		h := handler.Func(func(ctx context.Context, m *handler.Message) error {
			if m.Body == "permanent" {
				<-time.After(27600 * time.Millisecond) // in the reserve
			}
			return byBody(script)(ctx, m)
		})
		records := append(many(90, "permanent"), record("r", "reset"))
		if _, err := newProcessor(h, o).Handle(ctx, event(records...)); err != nil {
			t.Fatal(err)
		}
		if q.hidden["r"] != time.Second || ctx.Err() != nil {
			t.Errorf("hidden for %v, %v", q.hidden["r"], ctx.Err())
		}
	})
}

// declined is an error type that says of itself that it is permanent.
type declined struct{ error }

func (declined) Permanent() bool { return true }

func TestATagOutweighsTheCancellation(t *testing.T) {
	t.Parallel()
	for name, permanent := range map[string]error{
		"by a wrapper":       fault.Permanent(errOdd),
		"by a method of its": declined{errOdd},
	} {
		q := newQueues()
		ctx, cancel := context.WithCancel(t.Context())
		h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
			cancel()
			return errors.Join(permanent, ctx.Err())
		})
		if _, err := newProcessor(h, q.options()).Handle(ctx, event(record("m1", "x"))); err != nil {
			t.Fatal(err)
		}
		if len(q.letters) != 1 {
			t.Errorf("%s: outcome %v, want dead", name, q.logged(t, handler.LogOutcome, "outcome"))
		}
	}
}

func TestDrainingFinishesWhatRunsAndStartsNothing(t *testing.T) {
	t.Parallel()
	q := newQueues()
	draining := make(chan struct{})
	var ran []string
	h := handler.Func(func(ctx context.Context, m *handler.Message) error {
		ran = append(ran, m.MessageId)
		close(draining)
		return ctx.Err()
	})
	response, err := newProcessor(h, q.options()).Handle(host.WithDraining(t.Context(), draining),
		event(record("m1", "x"), record("m2", "x")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m1"}, ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m2"}, reported(response)); diff != "" || q.hidden["m2"] > 2*time.Second {
		t.Errorf("m2 comes back after %v; reported (-want +got):\n%s", q.hidden["m2"], diff)
	}
}

func TestSettlingOutlivesTheCancellation(t *testing.T) {
	t.Parallel()
	q := newQueues()
	ctx, cancel := context.WithCancel(t.Context())
	q.onSend = func(ctx context.Context) {
		if ctx.Err() != nil {
			t.Errorf("context of the send: %v", ctx.Err())
		}
	}
	h := handler.Func(func(context.Context, *handler.Message) error { cancel(); return script["permanent"](ctx, nil) })
	response, err := newProcessor(h, q.options()).Handle(ctx, event(record("m1", "x")))
	if err != nil || len(reported(response)) != 0 || len(q.letters) != 1 {
		t.Errorf("error %v, reported %v, %d dead letters", err, reported(response), len(q.letters))
	}
}

// What the first runs of a process show counts for the next start already: in time is only
// what can end before the reserve.
func TestNothingStartsTooLateInANewProcess(t *testing.T) {
	t.Parallel()
	for _, ledger := range []bool{true, false} {
		for _, concurrency := range []int{1, 2} {
			inBubble(t, fmt.Sprint(ledger, concurrency), func(t *testing.T) {
				s := newScene()
				s.timeout, s.options.Concurrency = 10*time.Second, concurrency
				if !ledger {
					s.options.Ledger = nil
				}
				ids := s.run(t, record("m1", "5s"), record("m2", "5s"), record("m3", "5s"), record("m4", "5s"))
				if len(s.runs()) != concurrency || len(ids) != 4-concurrency {
					t.Errorf("ran %v, reported %v; want %d runs", s.runs(), ids, concurrency)
				}
			})
		}
	}
}
