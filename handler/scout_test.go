package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// TestMessagesWithHalfOfTheirReceivesUsedAreClaimedFirst but run in their order:
// which of them are suspects is to be known before anything runs.
func TestMessagesWithHalfOfTheirReceivesUsedAreClaimedFirst(t *testing.T) {
	t.Parallel()
	for _, inTurn := range []bool{false, true} {
		s := newScene()
		s.options.MaxReceives, s.options.ClaimInTurn = 10, inTurn
		s.run(t, record("new", "x"), received(5, record("old1", "x")), received(4, record("young", "x")),
			received(9, record("old2", "x")), received(10, record("last", "x")))
		want := []string{
			"claim last", "claim old1", "claim old2", "last", "claim new", "new", "old1", "claim young", "young", "old2",
		}
		if inTurn {
			want = []string{
				"claim last", "last", "claim new", "new", "claim old1", "old1", "claim young", "young", "claim old2", "old2",
			}
		}
		if diff := cmp.Diff(want, s.events); diff != "" {
			t.Errorf("in turn %v: order (-want +got):\n%s", inTurn, diff)
		}
	}
}

// TestClaimedMessagesThatAreNotReached give their claims back, and at the last
// receive are dead-lettered with their record.
func TestClaimedMessagesThatAreNotReached(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		body   string // of the new message that runs before them
		drain  bool
		reason string
		dead   []string
	}{
		{"at the cut", "1h", false, handler.ReasonNoTime, []string{"last"}},
		{"on drain", "9s", true, handler.ReasonCancelled, []string{"last"}},
		{"after a crash", "3s boom", false, handler.ReasonAfterCrash, []string{}},
	}
	for _, tt := range tests {
		for _, concurrency := range []int{1, 2} {
			inBubble(t, fmt.Sprint(tt.name, concurrency), func(t *testing.T) {
				s := newScene()
				s.timeout, s.options.MaxReceives, s.options.Concurrency = 30*time.Second, 10, concurrency
				if tt.drain {
					time.AfterFunc(2*time.Second, func() { close(s.draining) })
				}
				func() {
					defer func() { _ = recover() }()
					s.run(t, received(10, record("head", tt.body)), received(10, record("head2", tt.body)),
						received(10, record("last", "x")), received(6, record("old", "x")))
				}()
				if len(s.runs()) != concurrency {
					t.Fatalf("ran %v, want %d", s.runs(), concurrency)
				}
				s.before(t, "claim old", "abort old")
				if got := s.outcomeOf(t, "old", "reason"); got != tt.reason {
					t.Errorf("reason %s, want %s", got, tt.reason)
				}
				dead := []string{}
				for _, id := range s.dead() {
					if id == "last" {
						dead = append(dead, id)
					}
				}
				if diff := cmp.Diff(tt.dead, dead); diff != "" {
					t.Errorf("dead (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestTheBreakerHoldsForClaimedMessagesToo, and the urgent suspect goes before it opens.
func TestTheBreakerHoldsForClaimedMessagesToo(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.options.MaxReceives = 10
	records := many(3, "reset")
	for i := range 4 {
		records = append(records, received(6, record(fmt.Sprint("old", i), "x")))
	}
	records = append(records, received(6, record("s1", "suspect")))
	s.run(t, records...)
	for _, id := range []string{"old0", "old1", "old2", "old3"} {
		if got := s.outcomeOf(t, id, "reason"); got != handler.ReasonBreaker {
			t.Errorf("%s: %s, want it deferred by the breaker", id, got)
		}
	}
	if ran := strings.Join(s.runs(), " "); ran != "s1 m00 m01 m02" {
		t.Errorf("ran %s", ran)
	}
}

// TestAScoutThatComesTooLateRunsIfItIsTheFirst, as any first message does.
func TestAScoutThatComesTooLateRunsIfItIsTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.MaxReceives = -1, 10
		s.run(t, received(6, record("m1", "x")), received(6, record("m2", "x")))
		if diff := cmp.Diff([]string{"m1"}, s.runs()); diff != "" {
			t.Errorf("ran (-want +got):\n%s", diff)
		}
	})
}
