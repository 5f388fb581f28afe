package handler_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// The breaker opens after failures in a row of what jobs depend on. The next job is a
// probe, and the rest of the batch is deferred, whatever becomes of that.
func TestTheBreaker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		limit int
		jobs  string
		runs  int
		open  bool // at the end
	}{
		{"five in a row by default", 0, "reset reset reset reset reset reset good good", 6, true},
		{"a probe that succeeds closes it", 0, "reset reset reset reset reset good good", 6, false},
		{"one that fails in another way closes it too", 2, "reset reset odd good", 3, false},
		{"one that dies shows nothing", 2, "reset reset permanent good", 3, true},
		{"a limit of its own", 2, "reset reset reset good good", 3, true},
		{"off", -1, "reset reset reset reset reset reset reset good", 8, false},
		{"success shows that it works", 3, "reset reset good reset reset good reset reset reset reset good", 10, true},
		{"so does a failure of another kind", 3, "reset reset odd reset reset good", 6, false},
		{"a permanent failure shows nothing", 3, "reset permanent reset permanent reset reset good", 6, true},
		{"wrong rights count", 3, "environment environment environment environment good", 4, true},
		{"what was asked to wait by name does not", 3, "wait wait wait wait good", 5, false},
		{"never without failures", 0, "good good good good", 4, false},
	}
	for _, tt := range tests {
		for _, ledger := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, ledger), func(t *testing.T) {
				t.Parallel()
				s := newScene()
				s.options.Breaker = tt.limit
				if !ledger {
					s.options.Ledger = nil
				}
				var report handler.Report
				s.options.Hooks.OnBatch = keep(&report)
				jobs := strings.Fields(tt.jobs)
				records := many(len(jobs), "")
				for i := range records {
					records[i].Body = jobs[i]
				}
				s.run(t, records...)
				if got := len(s.runs()); got != tt.runs {
					t.Errorf("%d ran, want %d", got, tt.runs)
				}
				if report.BreakerOpen != tt.open {
					t.Errorf("report says %v", report.BreakerOpen)
				}
				for i := tt.runs; i < len(jobs); i++ {
					id := records[i].MessageId
					if got := s.outcomeOf(t, id, "reason"); got != handler.ReasonBreaker || s.hidden[id] < time.Second {
						t.Errorf("%s: %s after %v", id, got, s.hidden[id])
					}
				}
			})
		}
	}
}

// TestADroppedConnection: three hundred jobs pass, and then the database is gone.
func TestADroppedConnection(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = concurrency
			records := append(many(300, "10ms"), many(300, "10ms reset")...)
			for i := range records {
				records[i].MessageId = fmt.Sprint("m", i)
			}
			ids := s.run(t, records...)
			calls := len(s.runs()) - 300
			if most := 6 + 2*(concurrency-1); calls < 6 || calls > most {
				t.Errorf("%d calls after the drop, want at most %d", calls, most)
			}
			if len(ids) != 300 || len(s.hidden) != 300 || len(s.dead()) != 0 {
				t.Errorf("%d reported, %d hidden, %d dead", len(ids), len(s.hidden), len(s.dead()))
			}
		})
	}
}

// TestWhatElseOpensTheBreaker: the store, and deaths that the surroundings cause.
func TestWhatElseOpensTheBreaker(t *testing.T) {
	t.Parallel()
	tests := map[string]func(o *handler.Options, l *fakeLedger){
		"the store is down": func(_ *handler.Options, l *fakeLedger) {
			l.decided = func(*handler.Message) *handler.Result { return storeDown(errOdd) }
		},
		"the budget ends": func(o *handler.Options, _ *fakeLedger) {
			o.Backoff = backoff.Exponential{MaxAttempts: 1}
		},
		"the receives end": func(o *handler.Options, _ *fakeLedger) { o.MaxReceives = 2 },
		"and nobody wants them": func(o *handler.Options, _ *fakeLedger) {
			o.MaxReceives, o.Drop = 2, []string{handler.ReasonMaxReceives}
		},
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			o := q.options()
			ledger := newLedger(newTrace())
			o.Ledger = ledger
			set(o, ledger)
			records := append(many(8, "reset"), record("next", "good"))
			for i := range 6 {
				if o.MaxReceives > 0 {
					received(2, records[i])
				}
			}
			handle(t, newProcessor(byBody(script), o), records...)
			for _, id := range []string{"m07", "next"} {
				if got := q.outcomeOf(t, id, "reason"); got != handler.ReasonBreaker {
					t.Errorf("%s: %s", id, got)
				}
			}
		})
	}
}

// The breaker belongs to the processor: the next batch begins with a probe, but not too
// soon after the last one, and of two batches one has it.
func TestTheBreakerHoldsForLaterBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		p := s.processor()
		sent := 0
		batch := func(n int, body string) (records []events.SQSMessage) {
			for range n {
				sent++
				records = append(records, record(fmt.Sprint("m", sent), body))
			}
			return records
		}
		runs := func(body string) int {
			before := len(s.runs())
			s.runIn(t, p, batch(5, body)...)
			return len(s.runs()) - before
		}
		var got []int
		got = append(got, runs("reset"), runs("reset"), runs("good")) // opens; fails as a probe; too early
		<-time.After(900 * time.Millisecond)
		got = append(got, runs("reset"))
		<-time.After(100 * time.Millisecond)
		var both sync.WaitGroup
		before := len(s.runs())
		for range 2 {
			records := batch(3, "1s reset")
			both.Go(func() { s.runIn(t, p, records...) })
		}
		both.Wait()
		got = append(got, len(s.runs())-before)
		<-time.After(time.Second)                     // of 2, and the run itself took one
		got = append(got, runs("good"), runs("good")) // closes
		if diff := cmp.Diff([]int{5, 1, 0, 0, 1, 1, 5}, got); diff != "" {
			t.Errorf("runs of each batch (-want +got):\n%s", diff)
		}
	})
}

// A probe that does not come to the end of a run is given back.
func TestAProbeThatDidNotRunIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Breaker = 1
		p := s.processor()
		s.runIn(t, p, record("m1", "reset"))
		busy := copyOf("j1", record("m2", "x"))
		s.ledger.decided = func(m *handler.Message) *handler.Result {
			if m.MessageId == "m2" {
				return &handler.Result{Outcome: handler.OutcomeBusy, Delay: time.Second}
			}
			return nil
		}
		s.runIn(t, p, busy)
		s.runIn(t, p, record("m3", "good"))
		if diff := cmp.Diff([]string{"m1", "m3"}, s.runs()); diff != "" {
			t.Errorf("ran (-want +got):\n%s", diff)
		}
	})
}

// Probes come after 1, 2, 4 and 8 seconds, and then every 10; messages that come again are
// probes every 10 seconds only.
func TestPausesBetweenProbes(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int][]time.Duration{
		1: {0, 1, 3, 7, 15, 25, 35}, 2: {10, 20, 30},
	} {
		inBubble(t, fmt.Sprint(receives), func(t *testing.T) {
			s := newScene()
			s.options.Breaker = 1
			p := s.processor()
			s.runIn(t, p, record("m0", "reset"))
			start := time.Now()
			var at []time.Duration
			for n := range 80 {
				before := len(s.runs())
				s.runIn(t, p, received(receives, record(fmt.Sprint("n", n), "reset")))
				if len(s.runs()) > before {
					at = append(at, time.Since(start)/time.Second)
				}
				<-time.After(500 * time.Millisecond)
			}
			if diff := cmp.Diff(want, at); diff != "" {
				t.Errorf("probes after seconds (-want +got):\n%s", diff)
			}
		})
	}
}

// A job that failed so before says nothing while others succeed. Where nothing has
// succeeded for ten seconds it counts.
func TestFailuresOfJobsThatFailedBefore(t *testing.T) {
	t.Parallel()
	known := handler.History{}.Append(handler.Attempt{Number: 1, Reason: fault.ReasonConnection})
	other := handler.History{}.Append(handler.Attempt{Number: 1, Reason: fault.ReasonUnclassified})
	for name, tt := range map[string]struct {
		ledger  bool
		history handler.History
		receive int
		quiet   time.Duration
		open    bool
	}{
		"failed so before":                    {true, known, 2, 0, false},
		"failed so before, long ago":          {true, known, 2, 10 * time.Second, true},
		"failed otherwise before":             {true, other, 2, 0, true},
		"was deferred before":                 {true, handler.History{}, 2, 0, true},
		"without a ledger, first delivery":    {false, handler.History{}, 1, 0, true},
		"without a ledger, comes again":       {false, handler.History{}, 2, 0, false},
		"without a ledger, comes again later": {false, handler.History{}, 2, 10 * time.Second, true},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.options.Breaker = 3
			if !tt.ledger {
				s.options.Ledger = nil
			}
			var report handler.Report
			s.options.Hooks.OnBatch = keep(&report)
			p := s.processor()
			s.runIn(t, p, record("works", "good"))
			<-time.After(tt.quiet)
			s.ledger.job.History = tt.history
			var records []events.SQSMessage
			for i := range 3 {
				records = append(records, received(tt.receive, record(fmt.Sprint("m", i), "reset")))
			}
			s.runIn(t, p, records...)
			if report.BreakerOpen != tt.open {
				t.Errorf("open: %v, want %v", report.BreakerOpen, tt.open)
			}
		})
	}
}

// A probe runs for the others: its failure uses up no budget.
func TestAProbeThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{"reset": "retry", "odd": "dead", "permanent": "dead"} {
		s := newScene()
		s.options.Breaker = 1
		p := s.processor()
		s.runIn(t, p, record("m1", "reset"))
		s.ledger.job = handler.Job{Key: "k", Attempts: 7, Unclassified: 2}
		spent := -1
		s.ledger.settled = func(_ *handler.Message, e handler.Ending) *handler.Result {
			spent = e.Result.Job.Attempts
			return nil
		}
		s.runIn(t, p, record("m2", body))
		if got := s.outcomeOf(t, "m2", "outcome"); got != want || got == "retry" && spent != 7 {
			t.Errorf("%s: %s with %d attempts, want %s", body, got, spent, want)
		}
	}
}
