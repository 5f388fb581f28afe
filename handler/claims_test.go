package handler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// claimCount is how many of the events are claims.
func (tr *trace) claimCount() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	n := 0
	for _, e := range tr.events {
		if strings.HasPrefix(e, "claim ") {
			n++
		}
	}
	return n
}

// First deliveries of a standard queue are claimed side by side before they have a slot,
// ten at a time; all others when their slot is free.
func TestWhatIsClaimedAhead(t *testing.T) {
	t.Parallel()
	redelivered := func(records []events.SQSMessage) []events.SQSMessage {
		for i := range records {
			received(2, records[i])
		}
		return records
	}
	group := func(records []events.SQSMessage) []events.SQSMessage {
		for i := range records {
			records[i] = grouped("g", records[i])
		}
		return records
	}
	for name, tt := range map[string]struct {
		ahead   bool
		records []events.SQSMessage
		want    int // claims while the first job runs
	}{
		"first deliveries":            {true, many(30, "1m"), 11},
		"a ledger that does not":      {false, many(30, "1m"), 1},
		"redelivered ones":            {true, redelivered(many(30, "1m")), 1},
		"a FIFO group":                {true, group(many(30, "1m")), 1},
		"first ones of a mixed batch": {true, append(redelivered(many(9, "1m")), record("n1", "1m"), record("n2", "1m")), 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.ledger.ahead, s.timeout = tt.ahead, 15*time.Minute
			claims := make(chan int, 1)
			time.AfterFunc(30*time.Second, func() { claims <- s.claimCount() })
			s.run(t, tt.records...)
			if got := <-claims; got != tt.want {
				t.Errorf("%d claims while the first job runs, want %d", got, tt.want)
			}
		})
	}
}

// A payload that comes again is decoded when its slot is free, since it may be what ends
// the process.
func TestRedeliveredPayloadsAreDecodedInTheirSlot(t *testing.T) {
	t.Parallel()
	for _, receives := range []int{2, 7} {
		for _, ledger := range []bool{true, false} {
			s := newScene()
			s.options.MaxReceives = 10
			if !ledger {
				s.options.Ledger = nil
			}
			h := prepares{
				look: func(_ context.Context, m *handler.Message) error { s.note("decode " + m.MessageId); return nil },
				run:  s.taking(steps),
			}
			s.runIn(t, newProcessor(h, s.options), received(receives, record("m1", "x")),
				received(receives, record("m2", "x")))
			s.before(t, "m1", "decode m2")
		}
	}
}

// Ten new jobs in order take three round trips: the claims, the runs, the settles.
func TestRoundTripsOfTenJobs(t *testing.T) {
	t.Parallel()
	const trip = 10 * time.Millisecond
	for name, tt := range map[string]struct {
		fifo bool
		most time.Duration
	}{"standard": {false, 3 * trip}, "one FIFO group": {true, 20 * trip}} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.ledger.ahead, s.timeout = true, 30*time.Second
			s.ledger.claimTime, s.ledger.settleTime = trip, trip
			records := many(10, "x")
			for i := range records {
				if tt.fifo {
					records[i] = grouped("g", records[i])
				}
			}
			start := time.Now()
			if ids := s.run(t, records...); len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			if took := time.Since(start); took > tt.most {
				t.Errorf("took %v, want at most %v", took, tt.most)
			}
		})
	}
}

// A claim that takes long holds up nobody else.
func TestASlowClaimHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.ledger.ahead, s.options.Concurrency, s.timeout = true, concurrency, 30*time.Second
			s.ledger.on = func(ctx context.Context, call string, m *handler.Message) {
				if call == "claim" && m.MessageId == "m00" {
					<-time.After(20 * time.Second)
				}
			}
			var last atomic.Int64
			start := time.Now()
			s.ledger.settled = func(m *handler.Message, _ handler.Ending) *handler.Result {
				if m.MessageId != "m00" { // time does not pass between two of them
					last.Store(int64(time.Since(start)))
				}
				return nil
			}
			records := append(many(20, "x"), received(2, record("again", "x")))
			if ids := s.run(t, records...); len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			// A message that comes again waits a second for the first deliveries.
			if got := time.Duration(last.Load()); got > 2*time.Second {
				t.Errorf("the others were settled after %v", got)
			}
		})
	}
}

// No job starts while many results are unwritten: they have to be written in the reserve.
func TestJobsWaitForTheResultsOfOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		concurrency int
		await       bool
		most        int
	}{
		"at least ten":         {1, false, 10},
		"twice as many as run": {8, false, 16},
		"each before the next": {1, true, 1},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.options.Concurrency, s.options.AwaitSettle = tt.concurrency, tt.await
			s.ledger.settleTime = 20 * time.Second
			unwritten, most := 0, 0
			s.ledger.on = func(_ context.Context, call string, _ *handler.Message) {
				if call == "settle" {
					s.trace.mu.Lock()
					defer s.trace.mu.Unlock()
					unwritten++
					most = max(most, unwritten)
				}
			}
			s.ledger.settled = func(*handler.Message, handler.Ending) *handler.Result {
				s.trace.mu.Lock()
				defer s.trace.mu.Unlock()
				unwritten--
				return nil
			}
			if ids := s.run(t, many(60, "x")...); len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			// Those that ran when the last place was taken come on top.
			if most < tt.most || most >= tt.most+tt.concurrency {
				t.Errorf("%d results unwritten at a time, want %d", most, tt.most)
			}
		})
	}
}

// A job of which one claim has no result is no suspect, but starts only when nothing of its
// process is being written: if it is what ends the process, the job before is not repeated.
func TestAnUnsettledJobStartsQuietly(t *testing.T) {
	t.Parallel()
	for _, batches := range []int{1, 2} {
		inBubble(t, fmt.Sprint(batches), func(t *testing.T) {
			s := newScene()
			s.ledger.settleTime, s.timeout = time.Second, time.Minute
			first, second := received(2, record("m1", "x")), received(2, record("m2", "100ms once"))
			if batches == 1 {
				s.run(t, first, second, received(2, record("m3", "x")))
				s.before(t, "m2", "m3")
			} else {
				p := s.processor()
				var both sync.WaitGroup
				both.Go(func() { s.runIn(t, p, first) })
				<-time.After(500 * time.Millisecond) // it is being written
				s.runIn(t, p, second)
				both.Wait()
			}
			s.before(t, "complete m1", "m2")
			if slices.Contains(s.events, "count m2") {
				t.Error("it ran as a suspect does")
			}
		})
	}
}

// It does not wait for ever: where results take long, it starts after five seconds.
func TestAnUnsettledJobDoesNotWaitForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.ledger.on = func(_ context.Context, call string, m *handler.Message) {
			if call == "settle" && m.MessageId == "m1" {
				<-time.After(20 * time.Second)
			}
		}
		p := s.processor()
		var both sync.WaitGroup
		both.Go(func() { s.runIn(t, p, record("m1", "x")) })
		<-time.After(time.Second)
		start := time.Now()
		s.runIn(t, p, received(2, record("m2", "once")))
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v, want 5 s", took)
		}
		both.Wait()
	})
}

// Claims that are not used are given back, side by side, when it is certain that their
// jobs do not run.
func TestClaimsThatAreNotUsedAreGivenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		body   string // of the messages that run before them
		drain  bool
		reason string
		within time.Duration
	}{
		{"at the cut", "1h", false, handler.ReasonNoTime, 29 * time.Second},
		{"on drain", "9s", true, handler.ReasonCancelled, 10 * time.Second},
		{"after a crash", "3s boom", false, handler.ReasonAfterCrash, 4 * time.Second},
	}
	for _, tt := range tests {
		for _, concurrency := range []int{1, 2} {
			inBubble(t, fmt.Sprint(tt.name, concurrency), func(t *testing.T) {
				s := newScene()
				s.timeout, s.options.Concurrency, s.ledger.ahead = 30*time.Second, concurrency, true
				s.ledger.settleTime = 200 * time.Millisecond // ten one after another would be too late
				if tt.drain {
					time.AfterFunc(2*time.Second, func() { close(s.draining) })
				}
				records := append(many(12, tt.body), received(3, record("again", "x")))
				start := time.Now()
				ctx, cancel := s.context(t)
				defer cancel()
				end(ctx, s.processor(), records)
				if took := time.Since(start); took > tt.within {
					t.Errorf("took %v, want at most %v", took, tt.within)
				}
				ran := s.runs()
				if len(ran) != concurrency {
					t.Fatalf("ran %v, want %d", ran, concurrency)
				}
				for _, r := range records {
					id := r.MessageId
					if slices.Contains(ran, id) {
						continue
					}
					if slices.Contains(s.events, "claim "+id) {
						s.before(t, "claim "+id, "abort "+id)
					}
					if got := s.outcomeOf(t, id, "reason"); got != tt.reason || s.hidden[id] < time.Second {
						t.Errorf("%s: %s, hidden for %v, want %s", id, got, s.hidden[id], tt.reason)
					}
				}
				if slices.Contains(s.events, "claim again") {
					t.Error("a message that came again was claimed without a slot")
				}
			})
		}
	}
}

// Middleware wraps the run of a job: after decoding and the claim, before the outcome is
// written.
func TestMiddlewareWrapsTheRun(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			s.note("in " + m.MessageId)
			defer s.note("out " + m.MessageId)
			return next(ctx, m)
		}
	}}
	h := prepares{
		look: func(_ context.Context, m *handler.Message) error { s.note("decode " + m.MessageId); return nil },
		run:  s.taking(steps),
	}
	s.runIn(t, newProcessor(h, s.options), record("m1", "x"))
	want := []string{"decode m1", "claim m1", "in m1", "m1", "out m1", "complete m1"}
	if diff := cmp.Diff(want, s.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// What middleware says without calling the function: nil gives the message up, Defer
// leaves it to a later receive, and an error is one of the job.
func TestMiddlewareThatDoesNotCallTheFunction(t *testing.T) {
	t.Parallel()
	quota := handler.Defer("quota", time.Minute)
	for name, tt := range map[string]struct {
		says            error
		outcome, reason string
		settled         string
		hidden          time.Duration
	}{
		"nil":              {nil, "dropped", handler.ReasonMiddleware, "abort m1", 0},
		"Defer":            {quota, "deferred", "quota", "abort m1", time.Minute},
		"Defer at once":    {handler.Defer("quota", 0), "deferred", "quota", "abort m1", time.Second},
		"Defer, wrapped":   {fmt.Errorf("limit: %w", quota), "deferred", "quota", "abort m1", time.Minute},
		"a retryable one":  {fault.Retryable(errOdd, fault.WithReason("busy")), "retry", "busy", "abort m1", time.Second},
		"a permanent one":  {fault.Permanent(errOdd, fault.WithReason("no")), "dead", "no", "verdict m1", 0},
		"a result of done": {&handler.Result{Outcome: handler.OutcomeDone}, "done", "", "complete m1", 0},
	} {
		for _, ledger := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ledger), func(t *testing.T) {
				t.Parallel()
				s := newScene()
				if !ledger {
					s.options.Ledger = nil
				}
				s.options.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
					return func(context.Context, *handler.Message) error { return tt.says }
				}}
				back := s.run(t, record("m1", "x"))
				if got := []string{s.outcomeOf(t, "m1", "outcome"), s.outcomeOf(t, "m1", "reason")}; got[0] != tt.outcome ||
					got[1] != tt.reason || len(s.runs()) != 0 {
					t.Errorf("outcome %v, ran %v", got, s.runs())
				}
				if (len(back) == 1) != (tt.hidden > 0) || s.hidden["m1"] != tt.hidden {
					t.Errorf("reported %v, hidden for %v, want %v", back, s.hidden["m1"], tt.hidden)
				}
				if ledger {
					s.before(t, "claim m1", tt.settled)
				}
			})
		}
	}
}

// Defer costs no budget, but for the receive.
func TestDeferCostsNoBudget(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]string{29: "deferred", 30: "dead"} {
		s := newScene()
		s.options.MaxReceives = 30
		s.ledger.job = handler.Job{Key: "k", Attempts: 7}
		s.options.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
			return fails(handler.Defer("quota", time.Minute))
		}}
		s.run(t, received(receives, record("m1", "x")))
		if got := s.outcomeOf(t, "m1", "outcome"); got != want {
			t.Errorf("receive %d of 30: %s, want %s", receives, got, want)
		}
	}
}

// A panic of the function is blamed on the job, one of middleware around it is not.
func TestWhoIsBlamedForAPanic(t *testing.T) {
	t.Parallel()
	for where, blamed := range map[string]bool{"before": false, "function": true, "goroutine": true, "after": false} {
		s := newScene()
		s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if where == "before" {
					panic("boom")
				}
				err := next(ctx, m)
				if where == "after" {
					panic("boom")
				}
				return err
			}
		}}
		h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
			switch where {
			case "function":
				panic("boom")
			case "goroutine":
				handler.Go(ctx, func(context.Context) error { panic("boom") })
			}
			return nil
		})
		var told handler.Ending
		s.ledger.settled = func(_ *handler.Message, e handler.Ending) *handler.Result { told = e; return nil }
		crash := crashes(t.Context(), t, newProcessor(h, s.options), event(record("m1", "x")))
		if crash.Message != "panic: boom" || told.Blamed != blamed || told.Result.Outcome != handler.OutcomeCrash {
			t.Errorf("%s: the runtime sees %q, the ledger %+v", where, crash.Message, told)
		}
	}
}
