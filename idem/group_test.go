package idem_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// slowly lets calls of the store take that long, and then refuses some of them.
func (h *harness) slowly(take map[string]time.Duration, refuse string) {
	h.faults.Before = func(_ context.Context, call idemtest.Call) error {
		pass(take[string(call)])
		if string(call) == refuse {
			return errStore
		}
		return nil
	}
}

// togetherWith demands that messages come back with another one.
func (i *invocation) togetherWith(head string, others ...string) {
	i.Helper()
	want := i.result(head).Delay
	for _, id := range others {
		if d := i.result(id).Delay; d.Truncate(time.Second) != want.Truncate(time.Second) {
			i.Errorf("%s comes back after %v, want %v as %s", id, d, want, head)
		}
	}
}

// What the store says of a job after the one before it has failed does not count.
func TestAnAnswerBehindAFailureIsForgotten(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		complete := idem.SettleComplete.String()
		h.deliver(ten("g")[1])
		h.slowly(map[string]time.Duration{"acquire": time.Second, complete: 500 * time.Millisecond}, complete)
		var counts []handler.Count
		h.engine.Hooks.OnBatch = func(_ context.Context, r handler.Report) { counts = r.Counts }
		h.invoke(1).batch(ten("g")[:3]...)
		want := []handler.Count{
			{Outcome: handler.OutcomeUnrecorded, Reason: fault.ReasonStore, N: 1},
			{Outcome: handler.OutcomeDeferred, Reason: handler.ReasonGroupHead, N: 2},
		}
		if !slices.Equal(counts, want) {
			h.Errorf("the batch has %+v, want %+v", counts, want)
		}
	})
}

// A job of a group that has failed is left to another receive, also if its own end is found
// out while the failure is written, or after it.
func TestNothingOfAGroupEndsBehindAFailure(t *testing.T) {
	t.Parallel()
	complete := idem.SettleComplete.String()
	for _, c := range []struct {
		name    string
		key     time.Duration // of the second message
		refused error
	}{
		{name: "its key is refused after the failure", key: time.Second, refused: errCard},
		{name: "its key is refused before the failure", key: time.Millisecond, refused: errCard},
		{name: "its key is found after the failure", key: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.posts = true
				h.options.Key = func(_ context.Context, m *handler.Message) (string, error) {
					if m.MessageId == "m1" {
						pass(c.key)
						return m.MessageId, c.refused
					}
					return m.MessageId, nil
				}
				h.slowly(map[string]time.Duration{complete: 500 * time.Millisecond}, complete)
				i := h.invoke(1).batch(ten("g")[:3]...)
				i.wantOutcomes(map[string]int{"unrecorded idempotency_store": 1, "deferred group_head": 2})
				if h.count("send") > 0 {
					h.Errorf("a letter went out behind a failure: %q", h.calls)
				}
				i.togetherWith("m0", "m1", "m2")
			})
		})
	}
}

// A message that was refused before its turn is decoded anew in its turn, as it was received.
func TestARefusalBeforeItsTurnLeavesNothing(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		asked := 0
		h.options.Key = func(_ context.Context, m *handler.Message) (string, error) {
			if m.MessageId != "m1" {
				return m.MessageId, nil
			}
			asked++
			if asked == 1 {
				m.Body = "in:changed"
				return "", fault.Retryable(errors.New("not yet"))
			}
			return m.MessageId, nil
		}
		bodies := map[string]string{}
		h.job = func(_ context.Context, m *handler.Message) error {
			bodies[m.MessageId] = m.Content()
			return nil
		}
		h.slowly(map[string]time.Duration{idem.SettleComplete.String(): time.Second}, "")
		messages := ten("g")[:3]
		messages[1].Body = "in:in:a"
		h.invoke(1).batch(messages...).wantOutcomes(map[string]int{"done": 3})
		if asked != 2 || bodies["m1"] != "in:a" {
			h.Errorf("asked for the key %d times, and the function got %q", asked, bodies["m1"])
		}
	})
}

// A claim that waits for its turn is given back in time, whatever hangs before it, and costs
// the job nothing.
func TestAClaimAheadIsGivenBackInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(h *harness)
		first   string // what becomes of the head
	}{
		{"the letter of the head hangs", func(h *harness) {
			h.posts, h.postage = true, time.Hour
			h.job = func(_ context.Context, m *handler.Message) error {
				if m.MessageId == "m0" {
					return errCard
				}
				return nil
			}
		}, "dead card"},
		{"the record of the head hangs", func(h *harness) {
			h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
				if string(call) == idem.SettleComplete.String() {
					return until(ctx, time.Hour)
				}
				return nil
			}
		}, "unrecorded idempotency_store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				c.prepare(h)
				messages := ten("g")[:2]
				i := h.invoke(1).batch(messages...)
				if h.count("acquire") != 2 || h.count("abort") != 1 {
					h.Errorf("the claim was not given back: %q", h.calls)
				}
				i.wantOutcomes(map[string]int{c.first: 1, "deferred no_time": 1})
				h.faults.Before = nil
				answer, err := h.faults.Store.Acquire(h.Context(), idem.Request{
					ID: h.requests[1].ID, Owner: "other", MessageID: "m1", Validation: h.requests[1].Validation,
					Now: time.Now(), Lease: time.Now().Add(time.Minute), Expires: time.Now().Add(time.Hour),
				})
				if err != nil || answer.Kind != idem.AnswerAcquired || answer.Claims != answer.Settled {
					h.Errorf("the next delivery gets %+v, %v; want the claim, with nothing unsettled", answer, err)
				}
			})
		})
	}
}

// A group does not go on beside a letter.
func TestAGroupGoesOnWhenALetterHasArrived(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.posts, h.postage = true, time.Second
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.MessageId == "m0" {
				return errCard
			}
			if h.count("send") != 1 {
				h.Errorf("%s runs before the letter has arrived", m.MessageId)
			}
			return nil
		}
		h.invoke(8).batch(ten("g")[:3]...).wantOutcomes(map[string]int{"dead card": 1, "done": 2})
	})
}

// A group does not go on behind a letter that was not sent, beside one that was.
func TestAGroupStopsAtALetterThatWasNotSent(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		messages := ten("g")[:7]
		for n, group := range []string{"a", "b", "c", "d", "e", "f", "f"} {
			messages[n].Attributes["MessageGroupId"] = group
		}
		h.posts, h.postage, h.unsent = true, time.Second, map[string]error{"m5": errStore}
		h.job = func(_ context.Context, m *handler.Message) error {
			switch m.MessageId {
			case "m4", "m5": // their letters are in one pack, since four others are under way
				pass(time.Millisecond)
			case "m6":
				return nil
			}
			return errCard
		}
		h.slowly(map[string]time.Duration{idem.SettleConfirm.String(): time.Second}, "")
		i := h.invoke(8).batch(messages...)
		i.wantOutcomes(map[string]int{"dead card": 6, "deferred group_head": 1})
		if h.count("abort") != 1 || len(h.letters) != 6 {
			h.Errorf("the claim was not given back: %q", h.calls)
		}
	})
}

// A claim that is lost before its turn does not run, and costs nothing.
func TestAClaimAheadThatIsLostDoesNotRun(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = 3 * time.Second
		h.faults.Before = func(_ context.Context, call idemtest.Call) error {
			switch string(call) {
			case idem.SettleComplete.String():
				pass(9 * time.Second)
			case string(idemtest.CallRenew):
				return errStore
			}
			return nil
		}
		ctx, cancel := context.WithCancel(h.Context())
		defer cancel()
		i := h.invoke(1).batchIn(ctx, ten("g")[:2]...)
		if h.runs != 1 {
			h.Errorf("%d runs, want that of the head alone", h.runs)
		}
		if r := i.result("m1"); r.Outcome != handler.OutcomeBusy && r.Outcome != handler.OutcomeDeferred {
			h.Errorf("the next is %s (%s)", r.Outcome, r.Decision.Reason)
		}
	})
}
