package idem_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// throttled is the error of DynamoDB for a table that has too many writes.
type throttled struct{}

func (throttled) Error() string     { return "the level of configured provisioned throughput was exceeded" }
func (throttled) ErrorCode() string { return "ProvisionedThroughputExceededException" }

// throttle lets a table take so many writes a second, with what a second has left over
// for the next, and answers after a while. The client tries each call three times, as
// the SDK does.
type throttle struct {
	perSecond float64
	latency   time.Duration

	mu      sync.Mutex
	left    float64
	last    time.Time
	refused int
}

func (t *throttle) before(ctx context.Context, _ idemtest.Call) error {
	for attempt := range 3 {
		if attempt > 0 {
			pass(50 * time.Millisecond << attempt)
		}
		if err := until(ctx, t.latency); err != nil {
			return err
		}
		if t.take() {
			return nil
		}
	}
	return fmt.Errorf("operation error DynamoDB: UpdateItem, exceeded maximum number of attempts, 3: %w", throttled{})
}

func (t *throttle) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.last.IsZero() {
		t.left = t.perSecond
	} else {
		t.left = min(t.left+now.Sub(t.last).Seconds()*t.perSecond, t.perSecond)
	}
	t.last = now
	if t.left < 1 {
		t.refused++
		return false
	}
	t.left--
	return true
}

// A table that takes a hundred writes a second gets ten thousand messages: far fewer run
// than there is time for, but what ran is recorded.
func TestWhatRanOnAThrottledTableIsRecorded(t *testing.T) {
	t.Parallel()
	const messages = 10_000
	for _, c := range []struct {
		concurrency, breaker int
		took                 time.Duration
	}{{1, -1, 0}, {10, 0, 50 * time.Millisecond}, {100, -1, 0}} {
		t.Run(fmt.Sprintf("concurrency %d, jobs of %v", c.concurrency, c.took), func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				limit, recorded := &throttle{perSecond: 100, latency: 5 * time.Millisecond}, 0
				h.faults.Before = limit.before
				h.faults.After = func(_ context.Context, call idemtest.Call) error {
					limit.mu.Lock()
					defer limit.mu.Unlock()
					if call == "complete" {
						recorded++
					}
					return nil
				}
				h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, c.took) }
				h.engine.Breaker = c.breaker // without it far more claims fail
				batch := make([]*handler.Message, messages)
				for n := range batch {
					batch[n] = message(fmt.Sprint("m", n), "a")
				}
				counts := h.invoke(c.concurrency).batch(batch...).outcomes()
				h.Logf("%v, of %d runs, %d writes refused", counts, h.runs, limit.refused)
				for what, n := range counts {
					outcome, _, _ := strings.Cut(what, " ")
					if outcome != "done" && outcome != "deferred" && what != "retry idempotency_store" {
						h.Errorf("%d messages are %s", n, what)
					}
				}
				if h.runs == 0 || recorded != h.runs || counts["done"] != h.runs || limit.refused == 0 {
					h.Errorf("%d jobs ran, %d are recorded and %d done; the table refused %d writes",
						h.runs, recorded, counts["done"], limit.refused)
				}
			})
		})
	}
}
