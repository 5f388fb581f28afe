package handler_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// badLedger is a ledger one call of which ends in a way that it must not, for the message
// "bad" only.
type badLedger struct {
	*fakeLedger
	call, how string
}

// fails ends the call if it is the one.
func (l badLedger) fails(call string, m *handler.Message) (gaveNothing bool) {
	if call != l.call || m.MessageId != "bad" {
		return false
	}
	switch l.how {
	case "panic":
		panic("in the ledger")
	case "goexit":
		runtime.Goexit()
	}
	return true
}

func (l badLedger) Identify(ctx context.Context, m *handler.Message) (handler.Identity, error) {
	if l.fails("identify", m) {
		return handler.Identity{}, nil
	}
	return l.fakeLedger.Identify(ctx, m)
}

func (l badLedger) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	if l.fails("claim", m) {
		return handler.ClaimAnswer{}
	}
	a := l.fakeLedger.Claim(ctx, m, id, end)
	if a.Claim != nil {
		a.Claim = badClaim{a.Claim, l, m}
	}
	return a
}

type badClaim struct {
	handler.Claim
	ledger  badLedger
	message *handler.Message
}

func (c badClaim) Lease() time.Time {
	c.ledger.fails("lease", c.message)
	return c.Claim.Lease()
}

func (c badClaim) Lost() <-chan struct{} {
	c.ledger.fails("lost", c.message)
	return c.Claim.Lost()
}

func (c badClaim) CountCrash(ctx context.Context, counted bool) error {
	c.ledger.fails("count", c.message)
	return c.Claim.CountCrash(ctx, counted)
}

func (c badClaim) Run(ctx context.Context) (context.Context, func()) {
	if c.ledger.fails("run", c.message) {
		return nil, nil
	}
	return c.Claim.Run(ctx)
}

func (c badClaim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	if c.ledger.fails("settle", c.message) {
		return nil
	}
	return c.Claim.Settle(ctx, e)
}

func (c badClaim) Confirm(ctx context.Context, id string) error {
	c.ledger.fails("confirm", c.message)
	return c.Claim.Confirm(ctx, id)
}

// Whatever a ledger does, no other message of the batch is lost, Handle comes back in
// time, and what is acknowledged is done or dead.
func TestALedgerThatMisbehaves(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"identify", "claim", "lease", "lost", "count", "run", "settle", "confirm"} {
		for _, how := range []string{"panic", "goexit", "nothing"} {
			for _, body := range []string{"1s", "1s permanent", "suspect 1s", "1s reset"} {
				for _, timeout := range []time.Duration{0, 30 * time.Second} {
					t.Run(fmt.Sprint(call, " ", how, " ", body, " ", timeout), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) { playBadLedger(t, call, how, body, timeout) })
					})
				}
			}
		}
	}
}

func playBadLedger(t *testing.T, call, how, body string, timeout time.Duration) {
	s := newScene()
	s.timeout = timeout
	s.options.Ledger = badLedger{s.ledger, call, how}
	ctx, cancel := s.context(t)
	defer cancel()
	gone := map[string]bool{}
	func() {
		defer func() {
			if value := recover(); value != nil {
				t.Logf("ended by %.60v", value)
				for _, id := range s.queues.deleted {
					gone[id] = true
				}
			}
		}()
		response, err := s.processor().Handle(ctx,
			event(record("good", "1s"), received(2, record("bad", body)), received(2, record("late", "2s permanent"))))
		if err != nil {
			t.Error(err)
		}
		gone = map[string]bool{"good": true, "bad": true, "late": true}
		for _, id := range reported(response) {
			delete(gone, id)
		}
	}()
	if ctx.Err() != nil {
		t.Error("Handle came back too late")
	}
	<-time.After(time.Hour)
	synctest.Wait()
	if !gone["good"] {
		t.Error("what was done before comes back")
	}
	if call == "claim" && slices.Contains(s.runs(), "bad") {
		t.Error("bad ran, although nobody has claimed it")
	}
	if gone["late"] && !cmp.Equal(s.dead()[len(s.dead())-1:], []string{"late"}) {
		t.Errorf("late is acknowledged, dead: %v", s.dead())
	}
	if gone["bad"] {
		ran := false
		for _, id := range s.runs() {
			ran = ran || id == "bad"
		}
		if dead := len(s.dead()) > 0 && s.dead()[0] == "bad"; !dead && !ran {
			t.Errorf("bad is acknowledged, ran %v, dead %v", s.runs(), s.dead())
		}
	}
}

// A claim that the cut ends is made once more at the last receive, for the verdict: else
// SQS would move the message without its record.
func TestAClaimThatTheCutEndsAtTheLastReceive(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]string{4: "deferred", 5: "dead"} {
		inBubble(t, want, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 5
			ended := false
			s.ledger.on = func(ctx context.Context, call string, m *handler.Message) {
				if call == "claim" && m.MessageId == "m2" {
					select {
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond):
					}
					ended = ctx.Err() != nil
				}
			}
			s.ledger.decided = func(m *handler.Message) *handler.Result {
				if m.MessageId == "m2" && ended {
					return &handler.Result{Outcome: handler.OutcomeDeferred}
				}
				return nil
			}
			// The first ends when 50 ms are left for jobs.
			s.run(t, received(5, record("m1", "26950ms")), received(receives, record("m2", "x")))
			if got := s.outcomeOf(t, "m2", "outcome"); got != want || len(s.runs()) != 1 {
				t.Errorf("m2 is %s, ran %v", got, s.runs())
			}
		})
	}
}
