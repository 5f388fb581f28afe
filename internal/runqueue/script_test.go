package runqueue_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// scenario is a batch and what happens to it. It has a ledger, one slot and a
// maxReceiveCount of 10 unless it says otherwise.
type scenario struct {
	name string
	// receives has the receive count of each delivery, groups its FIFO group.
	receives, groups []int
	// zero values stand for 1, 0, 10 and 10
	slots, ahead, unsettled, unsent int
	noLedger                        bool
	// lines are events and the actions that follow, with "->" between: see event and
	// describe. The first line has the actions of the begin.
	lines []string
}

func (s scenario) queue() *runqueue.Queue {
	var deliveries []runqueue.Delivery
	for i, n := range s.receives {
		d := runqueue.Delivery{Receives: n}
		if s.groups != nil {
			d.Group = s.groups[i]
		}
		deliveries = append(deliveries, d)
	}
	config := runqueue.Config{
		Slots: max(s.slots, 1), Ahead: s.ahead, Unsettled: 10, Unsent: 10, MaxReceives: 10, Ledger: !s.noLedger,
	}
	if s.unsettled > 0 {
		config.Unsettled = s.unsettled
	}
	if s.unsent > 0 {
		config.Unsent = s.unsent
	}
	return runqueue.New(deliveries, config)
}

func (s scenario) run(t *testing.T) {
	q := s.queue()
	var got []string
	for _, line := range s.lines {
		events, _, _ := strings.Cut(line, "->")
		var actions []string
		for event := range strings.SplitSeq(events, ",") {
			happen(t, q, strings.Fields(event))
			for _, a := range q.Next() {
				actions = append(actions, describe(a))
			}
			for _, wrong := range q.Invariants() {
				t.Errorf("after %s: %s", event, wrong)
			}
		}
		got = append(got, strings.TrimSpace(strings.TrimRight(events, " ")+" -> "+strings.Join(actions, ", ")))
	}
	var want []string
	for _, line := range s.lines {
		want = append(want, strings.TrimSpace(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// happen tells the queue of an event: its name, the delivery, and what it needs.
func happen(t *testing.T, q *runqueue.Queue, event []string) {
	t.Helper()
	if len(event) == 0 {
		return
	}
	var n [3]int
	for i, word := range event[1:] {
		n[i], _ = strconv.Atoi(word)
	}
	i := n[0]
	switch event[0] {
	case "identified": // delivery, job; without one, a job of its own
		q.Identified(i, event[len(event)-1])
	case "claimed": // delivery, unsettled, crashes
		q.Claimed(i, n[1], n[2])
	case "settling":
		q.Settling(i, false)
	case "ran":
		q.Settling(i, true)
	case "sending":
		q.Sending(i)
	case "promising":
		q.Promising(i)
	case "postponed":
		q.Postponed(i)
	case "sent":
		q.Sent(i)
	case "ended":
		q.Ended(i, true)
	case "failed":
		q.Ended(i, false)
	case "done":
		q.Settling(i, true)
		q.Ended(i, true)
	case "refused":
		q.Refused(i)
	case "freed":
		q.Freed()
	case "granted":
		q.Granted(i)
	case "denied":
		q.Denied(i)
	case "loneover":
		q.LoneOver(i)
	case "slow":
		q.Slow(i)
	case "lost":
		q.Lost(i)
	case "probed":
		q.Probed(i, true)
	case "unprobed":
		q.Probed(i, false)
	default:
		global(t, q, event[0])
	}
}

func global(t *testing.T, q *runqueue.Queue, event string) {
	t.Helper()
	switch event {
	case "stalled":
		q.Stalled()
	case "late":
		q.Late()
	case "hopeless":
		q.Hopeless()
	case "cut":
		q.Cut()
	case "verdictsover":
		q.VerdictsOver()
	case "drain":
		q.Drain()
	case "poison":
		q.Poison()
	case "open":
		q.Breaker(true)
	case "closed":
		q.Breaker(false)
	case "flushes":
		if !q.Flush() {
			t.Error("letters are kept back")
		}
	case "packs":
		if q.Flush() {
			t.Error("letters are not kept back")
		}
	case "waits":
		if !q.Waiting() {
			t.Error("nothing waits")
		}
	case "idle":
		if !q.Idle() || q.Waiting() {
			t.Error("not idle")
		}
	default:
		t.Errorf("event %q", event)
	}
}

var reasons = map[runqueue.Reason]string{
	runqueue.AfterCrash: "crash", runqueue.GroupHead: "group", runqueue.NoTime: "time", runqueue.Draining: "drain",
	runqueue.Breaker: "breaker", runqueue.NoSlot: "slot", runqueue.NotAlone: "notalone",
}

func describe(a runqueue.Action) string {
	out := fmt.Sprint(a.Kind, " ", a.Index)
	for i, said := range []bool{a.Force, a.Hold, a.Quiet} {
		if said {
			out += []string{" force", " hold", " quiet"}[i]
		}
	}
	if a.Reason != runqueue.None {
		out += " " + reasons[a.Reason]
	}
	return out
}
