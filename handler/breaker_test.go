package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// TestTheBreaker runs jobs in order and counts how many have run.
func TestTheBreaker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		limit int
		jobs  string
		runs  int
	}{
		{"three in a row by default", 0, "reset reset reset good good", 3},
		{"a limit of its own", 2, "reset reset good good", 2},
		{"off", -1, "reset reset reset reset good", 5},
		{"success shows that it works", 0, "reset reset good reset reset good reset reset reset good", 9},
		{"so does a failure of another kind", 0, "reset reset odd reset reset good", 6},
		{"a permanent failure shows nothing", 0, "reset permanent reset permanent reset good", 5},
		{"wrong rights count", 0, "environment environment environment good", 3},
		{"what was asked to wait by name does not", 0, "wait wait wait good", 4},
		{"never without failures", 0, "good good good good", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			s.options.Breaker = tt.limit
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
			if report.BreakerOpen != (tt.runs < len(jobs)) {
				t.Errorf("report says %v", report.BreakerOpen)
			}
			for i := tt.runs; i < len(jobs); i++ {
				if id := records[i].MessageId; s.outcomeOf(t, id, "reason") != handler.ReasonBreaker || s.hidden[id] < time.Second {
					t.Errorf("%s: %s after %v", id, s.outcomeOf(t, id, "reason"), s.hidden[id])
				}
			}
		})
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
			if most := 3 + 2*(concurrency-1); calls < 3 || calls > most {
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
	tests := map[string]func(o *handler.Options){
		"the store is down": func(o *handler.Options) {
			o.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
				return fails(fault.Retryable(errOdd, fault.Reason(fault.ReasonStore)))
			}}
		},
		"the budget ends":       func(o *handler.Options) { o.Backoff = backoff.Exponential{MaxAttempts: 1} },
		"the receives end":      func(o *handler.Options) { o.MaxReceives = 2 },
		"and nobody wants them": func(o *handler.Options) { o.MaxReceives, o.Drop = 2, []string{handler.ReasonMaxReceives} },
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			o := q.options()
			set(o)
			records := append(many(5, "reset"), record("next", "good"))
			for i := range 3 {
				if o.MaxReceives > 0 {
					received(2, records[i])
				}
			}
			handle(t, must(handler.NewProcessor(byBody(script), o)), records...)
			for _, id := range []string{"m03", "m04", "next"} {
				if got := q.outcomeOf(t, id, "reason"); got != handler.ReasonBreaker {
					t.Errorf("%s: %s", id, got)
				}
			}
		})
	}
}

// TestTheBreakerIsThatOfOneBatch: the next one asks anew.
func TestTheBreakerIsThatOfOneBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		p := s.processor()
		for range 2 {
			if ids := handle(t, p, many(5, "reset")...); len(ids) != 5 {
				t.Errorf("reported %v", ids)
			}
		}
		if len(s.runs()) != 6 {
			t.Errorf("%d ran, want three of each batch", len(s.runs()))
		}
	})
}
