package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

var (
	errTimeout = fault.Retryable(errors.New("provider timed out"), fault.WithReason("provider"))
	errCard    = fault.Permanent(errors.New("card refused"), fault.WithReason("card"))
)

func TestADoneJobRunsOnce(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		for range 9 {
			r := h.deliver(message("m1", "a"))
			h.want(r, handler.OutcomeDuplicate, idem.ReasonCompleted, 1)
		}
	})
}

func TestTheJobKnowsItsKeyAndState(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		h.fails(errTimeout)
		h.deliver(message("m1", `{"id":"ch-1"}`))
		pass(time.Hour)
		h.job = func(ctx context.Context, m *handler.Message) error {
			if key := idem.Key(ctx); key != "ch-1" || m.Job.Key != key {
				h.Errorf("keys are %q and %q, want ch-1", key, m.Job.Key)
			}
			if m.Job.Attempts != 1 || len(m.Job.History.Attempts) != 1 {
				h.Errorf("job is %+v, want one attempt", m.Job)
			}
			return nil
		}
		h.want(h.deliver(message("m1", `{"id":"ch-1"}`)), handler.OutcomeDone, "", 2)
	})
}

func TestNoKeyOutsideOfAJob(t *testing.T) {
	t.Parallel()
	if key := idem.Key(t.Context()); key != "" {
		t.Fatalf("key is %q", key)
	}
}

func TestAFailedJobComesBackWithItsBudget(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		const wait = 8 * time.Second
		h.engine.Backoff = backoff.Constant{Interval: wait}
		h.engine.Random = func() float64 { return 0 }
		h.fails(errTimeout)
		for run := 1; run <= 3; run++ {
			r := h.deliver(message("m1", "a"))
			h.want(r, handler.OutcomeRetry, "provider", run)
			if r.Job.Attempts != run || r.Job.History.Len() != run {
				h.Fatalf("job is %+v, want %d attempts", r.Job, run)
			}
			early := h.deliver(message("m1", "a"))
			h.want(early, handler.OutcomeBusy, idem.ReasonClaimed, run)
			h.within(early.Delay, wait-100*time.Millisecond)
			pass(wait)
		}
	})
}

// TestCopiesDoNotRunBeforeTheNextAttempt delivers copies in one batch: the first
// delay is often just a second, and is theirs too.
func TestCopiesDoNotRunBeforeTheNextAttempt(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		var runs []time.Time
		h.options.Key = idem.JSONField("id")
		h.engine.Backoff = backoff.Constant{Interval: time.Second}
		h.engine.Random = func() float64 { return 0 }
		h.job = func(context.Context, *handler.Message) error {
			runs = append(runs, time.Now())
			return errTimeout
		}
		for _, id := range []string{"m1", "m2", "m3"} {
			h.deliver(message(id, `{"id":"a"}`))
		}
		pass(time.Second)
		h.deliver(message("m2", `{"id":"a"}`))
		if len(runs) != 2 || runs[1].Sub(runs[0]) < time.Second {
			h.Errorf("runs at %v, want two, a second apart", runs)
		}
	})
}

func TestACopyOfARunningJobWaitsForItsLease(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = func(context.Context, *handler.Message) error {
			h.job = nil
			busy := h.deliver(message("m1", "a"))
			h.want(busy, handler.OutcomeBusy, idem.ReasonClaimed, 1)
			h.within(busy.Delay, invocationTime+2*time.Second)
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}

func TestAJobWhoseProcessDiedIsTakenOver(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken("complete") // as if the process had died before it
		h.deliver(message("m1", "a"))
		h.faults.Before = nil
		pass(invocationTime + 2*time.Second)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
	})
}

func TestADeadJobIsWrittenBeforeItIsSent(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		dead := h.deliver(message("m1", "a"))
		h.want(dead, handler.OutcomeDead, "card", 1)
		f := dead.Failure
		if f == nil || f.Key != "m1" || f.Epoch != 0 || !f.Verdict || f.Reason != "card" {
			h.Fatalf("failure is %+v, want the verdict on m1", f)
		}
		if want, got := time.Now().Add(invocationTime+2*time.Second), h.settlements[0].Lease; !got.Equal(want) {
			h.Fatalf("lease is %v, want %v", got, want)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeBusy, idem.ReasonClaimed, 1)

		h.posts = true
		h.want(h.deliver(message("m2", "a")), handler.OutcomeDead, "card", 2)
		h.want(h.deliver(message("m2", "a")), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 2)
		h.asks("acquire", "verdict", "2 acquire", "verdict", "send", "confirm", "acquire")
	})
}

func TestAnUnconfirmedDeathIsSentWithoutRunning(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		first := h.deliver(message("m1", "a"))
		pass(invocationTime + 2*time.Second)
		h.posts = true
		again := h.deliver(message("m1", "a"))
		h.want(again, handler.OutcomeDead, "card", 1)
		if again.Failure.Fingerprint != first.Failure.Fingerprint || !again.Failure.Verdict {
			h.Fatalf("failure is %+v, want that of the verdict", again.Failure)
		}
		if again.Decision.Class != fault.ClassPermanent || again.Err.Error() != "card refused" {
			h.Fatalf("decision is %+v with error %v, want those of the verdict", again.Decision, again.Err)
		}
		if lease := h.requests[1].Lease; lease.Before(time.Now().Add(invocationTime)) {
			h.Fatalf("lease ends %v, want a new one", lease)
		}
		h.asks("acquire", "verdict", "acquire", "send", "confirm")
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 1)
	})
}

// The time of the verdict is the letter's own, whoever sends it and how often: FIFO
// queues drop a second letter of the same death, and have to take that of another death
// although queue, key and epoch are the same.
func TestEachDeathHasItsTime(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		pass(1234567 * time.Microsecond)
		h.fails(errCard)
		first := h.deliver(message("m1", "a"))
		if want := handler.NewTimestamp(time.Now()); first.Failure.Last != want {
			h.Errorf("the time of the death is %v, want %v", first.Failure.Last, want)
		}
		for range 2 {
			pass(invocationTime + 2*time.Second)
			again := h.deliver(message("m1", "a"))
			if diff := cmp.Diff(first.Failure, again.Failure); diff != "" {
				h.Errorf("the letter that is sent again differs (-first +again):\n%s", diff)
			}
		}
		if err := h.faults.Store.(*idem.Memory).Forget(h.Context(), "charges#m1"); err != nil {
			h.Fatal(err)
		}
		other := h.deliver(message("m1", "a"))
		if f := other.Failure; f.Epoch != first.Failure.Epoch || f.Key != first.Failure.Key || f.Last == first.Failure.Last {
			h.Errorf("another death is %+v, the first %+v; want another time in the same epoch", f, first.Failure)
		}
	})
}

func TestWithoutAVerdictNothingIsSent(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		h.broken("verdict")
		h.posts = true
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeRetry, fault.ReasonStore, 1)
		h.within(r.Delay, invocationTime+2*time.Second)
		if len(h.letters) > 0 || r.Failure != nil || !errors.Is(r.Err, errStore) || !errors.Is(r.Err, errCard) {
			h.Fatalf("result is %+v, want no dead letter and both errors", r)
		}
	})
}

func TestAJobSentAgainAfterItsDeathRuns(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		early := message("m0", `{"id":"ch-1"}`)
		pass(time.Minute)
		h.fails(errCard)
		h.posts = true
		h.deliver(message("m1", `{"id":"ch-1"}`))
		h.want(h.deliver(early), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 1)

		pass(time.Minute)
		again := h.deliver(message("m2", `{"id":"ch-1"}`))
		h.want(again, handler.OutcomeDead, "card", 2)
		if again.Failure.Epoch != 1 || again.Failure.History.Len() != 2 {
			h.Fatalf("failure is %+v, want epoch 1 with both runs", again.Failure)
		}
	})
}

func TestAReplayRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replay handler.Replay
		runs   int
	}{
		"its own record":       {handler.Replay{Key: "m1", Epoch: 0, Verdict: true, MessageID: "m1"}, 2},
		"another job's record": {handler.Replay{Key: "m9", Epoch: 0, Verdict: true, MessageID: "m1"}, 1},
		"without a verdict":    {handler.Replay{Key: "m1", Epoch: 0, Verdict: false, MessageID: "m1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				replayed := h.replayed("m2", "a", c.replay)
				pass(time.Minute)
				h.fails(errCard)
				h.posts = true
				h.deliver(message("m1", "a"))
				h.deliver(replayed)
				if h.runs != c.runs {
					h.Fatalf("the job ran %d times, want %d", h.runs, c.runs)
				}
			})
		})
	}
}

func TestAnotherPayloadUnderTheKeyIsDeadWithoutAVerdict(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		h.deliver(message("m1", `{"id":"ch-1","amount":1}`))
		r := h.deliver(message("m2", `{"id":"ch-1","amount":2}`))
		h.want(r, handler.OutcomeDead, idem.ReasonConflict, 1)
		if r.Failure.Verdict || r.Failure.Epoch != 0 || r.Failure.Key != "ch-1" {
			h.Fatalf("result is %+v with failure %+v, want no verdict", r, r.Failure)
		}
		h.asks("acquire", "complete", "acquire")
		same := h.deliver(message("m3", `{ "amount": 1, "id": "ch-1" }`))
		h.want(same, handler.OutcomeDuplicate, idem.ReasonCompleted, 1)
	})
}

func TestAJobWithoutAKeyIsNotStored(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]idem.KeyFunc{
		"missing field": idem.JSONField("order.id"),
		"empty key":     func(context.Context, *handler.Message) (string, error) { return "", nil },
		"bytes":         func(context.Context, *handler.Message) (string, error) { return "\xff\xfe", nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.options.Key = key
				r := h.deliver(message("m1", `{"id":"ch-1"}`))
				h.want(r, handler.OutcomeDead, idem.ReasonMissingKey, 0)
				if len(h.requests)+len(h.settlements) > 0 {
					h.Fatalf("the store was asked: %v %v", h.requests, h.settlements)
				}
			})
		})
	}
}

func TestAKeyFunctionMayFailLikeAJob(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = func(context.Context, *handler.Message) (string, error) { return "", errTimeout }
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", 0)
	})
}

func TestAStoreWithoutSenseIsAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.Store = senseless{}
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeRetry, fault.ReasonStore, 0)
		if !strings.Contains(r.Err.Error(), "invalid") {
			h.Fatalf("error is %v", r.Err)
		}
	})
}

// senseless is a store that answers with nothing.
type senseless struct{ idem.Store }

func (senseless) Acquire(context.Context, idem.Request) (idem.Answer, error) {
	return idem.Answer{}, nil
}

func TestALedgerNeedsAStore(t *testing.T) {
	t.Parallel()
	if l, err := idem.New(nil, nil); err == nil || l != nil || !strings.Contains(err.Error(), "store is nil") {
		t.Fatalf("New gave %v, %v; want an error and no ledger", l, err)
	}
}

func TestTheWayToTheStoreIsRepeatedByReceiveCount(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 20: 300 * time.Second,
	} {
		scenario(t, func(h *harness) {
			h.broken(idemtest.CallAcquire)
			r := h.deliver(received("m1", "a", receives))
			h.want(r, handler.OutcomeRetry, fault.ReasonStore, 0)
			h.within(r.Delay, want)
			if r.Job.Attempts != 0 || r.Job.History.Len() != 0 || !errors.Is(r.Err, errStore) {
				h.Fatalf("result is %+v, want the store's error and no attempt", r)
			}
		})
	}
}

// What changes with each sending is no other job where it is left out of the hash.
func TestTheHashSaysWhatAnotherPayloadIs(t *testing.T) {
	t.Parallel()
	first, again := `{"id":"ch-1","amount":1,"sent":"12:00"}`, `{"id":"ch-1","amount":1,"sent":"12:05"}`
	edited := `{"id":"ch-1","amount":2,"sent":"12:05"}`
	for _, c := range []struct {
		name          string
		hash          idem.Hash
		again, edited string
	}{
		{"all of it", idem.Hash{}, "dead key_conflict", "dead key_conflict"},
		{"its fields", idem.HashFields("amount", "id"), "duplicate completed", "dead key_conflict"},
		{"nothing", idem.HashNothing(), "duplicate completed", "duplicate completed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.options.Key, h.options.Hash = idem.JSONField("id"), c.hash
				h.want(h.deliver(message("m1", first)), handler.OutcomeDone, "", 1)
				for body, want := range map[string]string{again: c.again, edited: c.edited} {
					i := h.invoke(1).batch(message("m2", body))
					i.wantOutcomes(map[string]int{want: 1})
				}
			})
		})
	}
}

// A deploy changes the selection while a job waits for its next attempt.
func TestASelectionMayChangeWithADeploy(t *testing.T) {
	t.Parallel()
	selections := []idem.Hash{{}, idem.HashFields("id"), idem.HashNothing(), idem.HashFields("id", "amount"), {}}
	scenario(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		h.fails(errTimeout)
		for run, hash := range selections {
			h.options.Hash = hash
			h.want(h.deliver(message("m1", `{"id":"ch-1","amount":1}`)), handler.OutcomeRetry, "provider", run+1)
			pass(time.Hour)
		}
	})
}
