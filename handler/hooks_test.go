package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// keep is an OnBatch hook that keeps the report.
func keep(into *handler.Report) func(context.Context, handler.Report) {
	return func(_ context.Context, r handler.Report) { *into = r }
}

// told is what hooks were told.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) hooks() handler.Hooks {
	note := func(format string, args ...any) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, fmt.Sprintf(format, args...))
	}
	return handler.Hooks{
		OnError: func(ctx context.Context, m *handler.Message, r *handler.Result) {
			note("error %s %s %s %v", m.MessageId, r.Outcome, r.Decision.Reason, handler.FromContext(ctx) != nil)
		},
		OnDead: func(_ context.Context, letter handler.Letter, id string) {
			note("dead %s %s %s", letter.Message.MessageId, letter.Failure.Reason, id)
		},
		OnBatch: func(_ context.Context, r handler.Report) { note("batch of %d", r.Messages) },
	}
}

func (l *told) sorted() []string { return slices.Sorted(slices.Values(l.lines)) }

func TestHooksAreToldOnceWithTheDecision(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		var l told
		q := newQueues()
		q.sendErr = map[string]error{"unsent": errOdd}
		o := q.options()
		o.Concurrency, o.Hooks, o.Drop = concurrency, l.hooks(), []string{"unwanted"}
		h := byBody(map[string]func(context.Context, *handler.Message) error{
			"reset": script["reset"], "permanent": script["permanent"],
			"unwanted":  fails(fault.Permanent(errOdd, fault.WithReason("unwanted"))),
			"busy":      fails(&handler.Result{Outcome: handler.OutcomeBusy}),
			"deferred":  fails(&handler.Result{Outcome: handler.OutcomeDeferred, Err: errOdd}),
			"duplicate": fails(&handler.Result{Outcome: handler.OutcomeDuplicate}),
		})
		handle(t, newProcessor(h, o), record("good", "good"), record("retry", "reset"), record("dead", "permanent"),
			record("unsent", "permanent"), record("dropped", "unwanted"), record("busy", "busy"), record("deferred", "deferred"),
			record("duplicate", "duplicate"))
		want := []string{
			"batch of 8", "dead dead no_customer dead-dead", "error dead dead no_customer true",
			"error dropped dropped unwanted true", "error retry retry connection true", "error unsent dead no_customer true",
		}
		if diff := cmp.Diff(want, l.sorted()); diff != "" {
			t.Errorf("concurrency %d: told (-want +got):\n%s", concurrency, diff)
		}
	}
}

func TestHooksAreToldOfACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, body := range []string{"boom", "hang"} {
			var l told
			s := newScene()
			s.timeout, s.options.Hooks, s.options.Middleware = 30*time.Second, l.hooks(), nil
			release := make(chan struct{})
			if body == "hang" {
				s.options.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
					return func(context.Context, *handler.Message) error { <-release; return errOdd }
				}}
			}
			ctx, cancel := s.context(t)
			crashes(ctx, t, s.processor(), event(record("m1", body)))
			cancel()
			close(release)
			synctest.Wait()
			reason := map[string]string{"boom": handler.ReasonPanic, "hang": handler.ReasonAbandoned}[body]
			if diff := cmp.Diff([]string{"batch of 1", "error m1 crash " + reason + " true"}, l.sorted()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		}
	})
}

// TestABadHookLosesNothing, be it that it panics or that it hangs, and costs no
// more time than there is.
func TestABadHookLosesNothing(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{time.Second, 30 * time.Second} {
		for _, kind := range []string{"OnError", "OnDead", "OnBatch"} {
			for _, fault := range []string{"panics", "hangs"} {
				for _, concurrency := range []int{1, 8} {
					inBubble(t, fmt.Sprint(timeout, kind, fault, concurrency), func(t *testing.T) {
						release := make(chan struct{})
						defer close(release)
						called := 0
						var mu sync.Mutex
						bad := func() {
							mu.Lock()
							called++
							mu.Unlock()
							if fault == "panics" {
								panic("hook")
							}
							<-release
						}
						s := newScene()
						s.timeout, s.options.Concurrency, s.options.Breaker = timeout, concurrency, -1
						switch kind {
						case "OnError":
							s.options.Hooks.OnError = func(context.Context, *handler.Message, *handler.Result) { bad() }
						case "OnDead":
							s.options.Hooks.OnDead = func(context.Context, handler.Letter, string) { bad() }
						case "OnBatch":
							s.options.Hooks.OnBatch = func(context.Context, handler.Report) { bad() }
						}
						var records []events.SQSMessage
						for i := range 30 {
							records = append(records, record(fmt.Sprint("m", i), []string{"good", "reset", "permanent"}[i%3]))
						}
						// One that is cut off, so that its hook is called in the reserve.
						records = append(records, record("slow", "1h"))
						ctx, cancel := s.context(t)
						defer cancel()
						response, err := s.processor().Handle(ctx, event(records...))
						if err != nil || ctx.Err() != nil {
							t.Fatalf("%v, %v", err, ctx.Err())
						}
						back := reported(response)
						for _, r := range records {
							come, dead := slices.Contains(back, r.MessageId), slices.Contains(s.dead(), r.MessageId)
							if ran := slices.Contains(s.runs(), r.MessageId); ran && come != (r.Body == "reset" || r.Body == "1h") {
								t.Errorf("%s %s: reported %v", r.MessageId, r.Body, come)
							}
							if come == dead && (come || r.Body == "permanent") {
								t.Errorf("%s %s: reported %v and dead %v", r.MessageId, r.Body, come, dead)
							}
						}
						mu.Lock()
						defer mu.Unlock()
						failed := s.logged(t, "hook failed", "hook")
						if fault == "panics" && (len(failed) == 0 || failed[0] != kind || len(failed) != called) {
							t.Errorf("logged %v, called %d times", failed, called)
						}
						if fault == "hangs" && len(s.hidden) == 0 {
							t.Error("failed messages do not have their delays, since a hook hangs")
						}
					})
				}
			}
		}
	}
}

func TestTheReportCountsEveryOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		q.sendErr = map[string]error{"unsent": errOdd}
		q.hideErr = map[string]error{"busy": errOdd}
		o := q.options()
		var got handler.Report
		o.Hooks.OnBatch, o.Drop = keep(&got), []string{"unwanted"}
		o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				outcomes := map[string]handler.Outcome{
					"busy": handler.OutcomeBusy, "duplicate": handler.OutcomeDuplicate, "unrecorded": handler.OutcomeUnrecorded,
				}
				if o := outcomes[m.Body]; o != 0 {
					return &handler.Result{Outcome: o, Delay: time.Second}
				}
				return next(ctx, m)
			}
		}}
		h := byBody(map[string]func(context.Context, *handler.Message) error{
			"1s": steps, "reset": script["reset"], "permanent": script["permanent"],
			"unwanted": fails(fault.Permanent(errOdd, fault.WithReason("unwanted"))),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := newProcessor(h, o).Handle(ctx, event(
			record("a", "1s"), record("b", "1s"), record("c", "reset"), record("d", "permanent"), record("unsent", "permanent"),
			record("e", "unwanted"), record("busy", "busy"), record("f", "duplicate"), record("g", "unrecorded")))
		if err != nil {
			t.Fatal(err)
		}
		want := handler.Report{
			Queue: "jobs", Messages: 9, Runs: 6, Sent: 1, Unsent: 1, Unsettled: 1,
			Took: 2 * time.Second, TimeLeft: 28 * time.Second,
			Counts: []handler.Count{
				{Outcome: handler.OutcomeDone, N: 2},
				{Outcome: handler.OutcomeRetry, Class: fault.ClassRetryable, Reason: fault.ReasonConnection, N: 1},
				{Outcome: handler.OutcomeDead, Class: fault.ClassPermanent, Reason: "no_customer", N: 2},
				{Outcome: handler.OutcomeDropped, Class: fault.ClassPermanent, Reason: "unwanted", N: 1},
				{Outcome: handler.OutcomeBusy, N: 1}, {Outcome: handler.OutcomeDuplicate, N: 1},
				{Outcome: handler.OutcomeUnrecorded, N: 1},
			},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), withoutJobs); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
	})
}

// withoutJobs is for tests that look at the counts.
var withoutJobs = cmpopts.IgnoreFields(handler.Report{}, "Jobs")

func TestTheReportHasTheTimesOfEachJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got handler.Report
		o := newQueues().options()
		o.Hooks.OnBatch = keep(&got)
		sent := func(id, body string, ago time.Duration) events.SQSMessage {
			r := record(id, body)
			r.Attributes = map[string]string{"SentTimestamp": strconv.FormatInt(time.Now().Add(-ago).UnixMilli(), 10)}
			return r
		}
		h := handler.Func(func(_ context.Context, m *handler.Message) error {
			<-time.After(time.Second)
			if m.Body == "reset" {
				return syscall.ECONNRESET
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := newProcessor(h, o).Handle(ctx, event(
			sent("a", "good", time.Minute), sent("b", "reset", time.Hour), record("c", "good")))
		if err != nil {
			t.Fatal(err)
		}
		want := []handler.JobReport{
			{Outcome: handler.OutcomeDone, Ran: true, Run: time.Second, Age: time.Minute + time.Second},
			{Outcome: handler.OutcomeRetry, Reason: fault.ReasonConnection, Ran: true, Run: time.Second,
				Age: time.Hour + 2*time.Second, Budget: 1},
			{Outcome: handler.OutcomeDone, Ran: true, Run: time.Second},
		}
		if diff := cmp.Diff(want, got.Jobs); diff != "" {
			t.Errorf("jobs (-want +got):\n%s", diff)
		}
	})
}

func TestTheReportOfACrash(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.killErr = map[string]error{"m1": errOdd}
	o := q.options()
	var got handler.Report
	o.Hooks.OnBatch = keep(&got)
	crashes(t.Context(), t, newProcessor(handler.Func(steps), o),
		event(record("m1", "good"), record("m2", "boom"), record("m3", "good")))
	want := handler.Report{
		Queue: "jobs", Messages: 3, Runs: 2, Unsettled: 1, Crashed: true,
		Counts: []handler.Count{
			{Outcome: handler.OutcomeDone, N: 1}, {Outcome: handler.OutcomeCrash, Reason: handler.ReasonPanic, N: 1},
			{Outcome: handler.OutcomeDeferred, Reason: handler.ReasonAfterCrash, N: 1},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(handler.Report{}, "Took"), withoutJobs); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestTheReportOfAnEmptyBatch(t *testing.T) {
	t.Parallel()
	var got handler.Report
	o := newQueues().options()
	o.Hooks.OnBatch = keep(&got)
	empty := events.SQSEvent{Records: []events.SQSMessage{}}
	if _, err := newProcessor(byBody(nil), o).Handle(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(handler.Report{}, got, cmpopts.IgnoreFields(handler.Report{}, "Took"), withoutJobs); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestAHookMayKeepTheResult: what settling changes later is not seen in it.
func TestAHookMayKeepTheResult(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.sendErr = map[string]error{"m1": errors.New("no")}
	o := q.options()
	var kept *handler.Result
	o.Hooks.OnError = func(_ context.Context, _ *handler.Message, r *handler.Result) { kept = r }
	handle(t, newProcessor(byBody(script), o), record("m1", "permanent"))
	if kept.Delay != 0 {
		t.Errorf("delay %v, want the decision as it was", kept.Delay)
	}
}
