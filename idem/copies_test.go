package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// A copy asks when the first has ended, and the ledger says what it is.
func TestACopyInTheSameBatchFollowsTheFirst(t *testing.T) {
	t.Parallel()
	done := func(h *harness) { h.deliver(message("m0", `{"id":"k"}`)); h.calls, h.runs = nil, 0 }
	for _, c := range []struct {
		name   string
		before func(h *harness)
		err    error
		want   map[string]int
		asks   []string
		runs   int
	}{
		{"the first is done", nil, nil, map[string]int{"done": 1, "duplicate completed": 1},
			[]string{"acquire", "complete", "acquire"}, 1},
		{"the first is a duplicate", done, nil, map[string]int{"duplicate completed": 2}, []string{"acquire", "acquire"}, 0},
		{"the first failed", nil, errTimeout, map[string]int{"retry provider": 1, "busy claimed": 1},
			[]string{"acquire", "release", "acquire"}, 1},
		{"the first is dead", nil, errCard, map[string]int{"dead card": 1, "duplicate dead_before": 1},
			[]string{"acquire", "verdict", "send", "confirm", "acquire"}, 1},
		{"the first is not recorded", func(h *harness) { h.broken("complete") }, nil,
			map[string]int{"unrecorded idempotency_store": 1, "busy claimed": 1},
			[]string{"acquire", "complete", "acquire"}, 1},
		{"the store is down", func(h *harness) { h.broken("acquire") }, nil,
			map[string]int{"retry idempotency_store": 2}, []string{"acquire", "acquire"}, 0},
	} {
		for _, concurrency := range []int{1, 8} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				scenario(t, func(h *harness) {
					h.posts = true
					h.options.Key = idem.JSONField("id")
					h.engine.Backoff = backoff.Constant{Interval: 5 * time.Second}
					if c.before != nil {
						c.before(h)
					}
					i := h.invoke(concurrency)
					i.job = func(ctx context.Context, _ *handler.Message) error {
						_ = until(ctx, 3*time.Second) // clocks may differ by 2 s
						return c.err
					}
					i.batch(message("m1", `{"id":"k"}`), message("m2", `{ "id": "k" }`))
					i.wantOutcomes(c.want)
					if diff := cmp.Diff(c.asks, h.calls); diff != "" || h.runs != c.runs {
						h.Errorf("%d runs, want %d; calls differ (-want +got):\n%s", h.runs, c.runs, diff)
					}
				})
			})
		}
	}
}

// wantOutcomes demands so many of each, and that those told to wait do not come
// back at once.
func (i *invocation) wantOutcomes(want map[string]int) {
	i.Helper()
	if diff := cmp.Diff(want, i.outcomes()); diff != "" {
		i.Errorf("outcomes differ (-want +got):\n%s", diff)
	}
	for id, r := range i.results {
		if r.Outcome == handler.OutcomeBusy && r.Delay < time.Second {
			i.Errorf("%s comes back after %v, want a second at least", id, r.Delay)
		}
	}
}

func TestAnotherPayloadInTheSameBatchIsAConflict(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		i := h.invoke(1).batch(message("m1", `{"id":"k","amount":1}`), message("m2", `{"id":"k","amount":2}`))
		i.wantOutcomes(map[string]int{"done": 1, "dead key_conflict": 1})
		h.asks("acquire", "complete", "acquire")
	})
}

func TestOfManyCopiesOneRuns(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		var messages []*handler.Message
		for _, id := range []string{"m1", "m2", "m3", "m4", "m5", "m6", "m7"} {
			messages = append(messages, message(id, `{"id":"k"}`))
		}
		h.invoke(3).batch(messages...).wantOutcomes(map[string]int{"done": 1, "duplicate completed": 6})
		h.asks("acquire", "complete", "6 acquire")
	})
}

func TestCopiesOfASuspectWaitWithIt(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = func(context.Context, *handler.Message) (string, error) { return "k", nil }
		h.suspected("m1")
		h.fails(nil)
		i := h.invoke(4).batch(message("m1", "a"), message("m2", "a"), message("m3", "a"))
		i.wantOutcomes(map[string]int{"done": 1, "duplicate completed": 2})
		h.asks("acquire", "alone", "complete", "2 acquire")
	})
}

func TestTheContentOfAnEnvelopeIsThePayload(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]idem.KeyFunc{"field": idem.JSONField("id"), "attribute": idem.Attribute("job")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.options.Key = key
				h.invoke(1).batch(message("m1", `in:{"id":"enclosed","n":1}`)).ended("m1", handler.OutcomeDone, "")
				if got := h.requests[0].ID; got != "charges#enclosed" {
					h.Errorf("id is %q, want the key of the content", got)
				}
				i := h.invoke(1).batch(message("m2", `in:{ "n":1, "id":"enclosed" }`), message("m3", `in:{"id":"enclosed","n":2}`))
				i.ended("m2", handler.OutcomeDuplicate, idem.ReasonCompleted)
				i.ended("m3", handler.OutcomeDead, idem.ReasonConflict)
			})
		})
	}
}
