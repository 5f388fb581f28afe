package runqueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

func runAll(t *testing.T, scenarios []scenario) {
	t.Helper()
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

func TestOrder(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "last receives, urgent, first, redelivered", receives: []int{2, 1, 5, 10, 6}, noLedger: true,
			lines: []string{
				"-> start 3", "done 3 -> start 4", "done 4 -> start 2", "done 2 -> start 1", "done 1 -> start 0", "done 0, idle ->",
			},
		},
		{
			name: "as many run as there are slots", receives: []int{1, 1, 1}, noLedger: true, slots: 2,
			lines: []string{
				"-> start 0, start 1", "ran 1 -> start 2", "ended 1, ran 2, ran 0, ended 0, ended 2, idle ->",
			},
		},
		{
			name: "first ones are claimed ahead, and who is claimed first starts first", receives: []int{1, 1, 1}, ahead: 2,
			lines: []string{
				"-> decode 0, decode 1", "waits, identified 0, identified 1 -> claim 0, claim 1",
				"claimed 1 -> start 1, decode 2", "claimed 0 ->", "done 1 -> start 0",
			},
		},
		{
			name: "nothing is claimed ahead where that is not wanted", receives: []int{1, 1}, ahead: 0,
			lines: []string{
				"-> decode 0", "identified 0 -> claim 0", "claimed 0 -> start 0", "ran 0 -> decode 1",
			},
		},
		{
			name:     "a redelivered one is decoded in a slot, after the first ones have started",
			receives: []int{2, 1, 1}, ahead: 10, slots: 2,
			lines: []string{
				"-> decode 1, decode 2", "identified 1, claimed 1 -> claim 1, start 1", "identified 2 -> claim 2",
				"done 1 ->", "claimed 2 -> start 2, decode 0", "identified 0 -> claim 0", "claimed 0 -> start 0",
			},
		},
		{
			name: "nobody waits for a slow claim", receives: []int{2, 1}, ahead: 10,
			lines: []string{"-> decode 1", "identified 1 -> claim 1", "slow 1 -> decode 0", "slow 1 ->"},
		},
		{
			name: "an urgent one does not wait for first ones", receives: []int{1, 6}, ahead: 10,
			lines: []string{"-> decode 1, decode 0"},
		},
		{
			name: "an end while decoding or claiming lets the next begin", receives: []int{2, 2, 2, 2},
			lines: []string{
				"-> decode 0", "ended 0 -> decode 1", "settling 1 -> decode 2", "identified 2 -> claim 2",
				"sending 2 -> decode 3",
			},
		},
	})
}

func TestUnansweredWrites(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "settles hold starts back", receives: []int{1, 1, 1}, noLedger: true, unsettled: 2,
			lines: []string{"-> start 0", "ran 0 -> start 1", "ran 1, waits ->", "ended 1 -> start 2"},
		},
		{
			name: "letters hold starts back, and go out then", receives: []int{1, 1, 1}, noLedger: true, unsent: 2,
			lines: []string{
				"-> start 0", "sending 0 -> start 1", "packs ->", "sending 1, flushes ->", "ended 0 -> start 2",
			},
		},
		{
			name: "they hold back what is claimed in its slot, too", receives: []int{2, 2}, slots: 2, unsettled: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 -> claim 0, start 0", "identified 1, ran 0 -> claim 1",
				"claimed 1 ->", "ended 0 -> start 1",
			},
		},
		{
			name: "an unsettled claim starts when nothing is settling or sent", receives: []int{2, 2, 2}, slots: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 0, claimed 0 -> claim 0, start 0",
				"identified 1, claimed 1 -> claim 1, start 1", "identified 2, ran 0 -> claim 2", "packs, claimed 2 1 ->",
				"sending 0, flushes ->", "ended 0 -> start 2 quiet",
			},
		},
		{
			name: "nothing that comes after it starts before", receives: []int{2, 2, 2}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 -> claim 0, start 0", "identified 1, ran 0 -> claim 1, decode 2",
				"settling 2, claimed 1 1 ->", "ended 0 ->", "ended 2 -> start 1 quiet",
			},
		},
		{
			name: "letters go out when no more come", receives: []int{1}, noLedger: true,
			lines: []string{"-> start 0", "packs, ran 0, packs, sending 0, flushes ->"},
		},
	})
}

func TestCopies(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "a copy is claimed when its first has ended", receives: []int{1, 1, 1}, ahead: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 0 a, identified 1 a, identified 2 a -> claim 0",
				"claimed 0 -> start 0", "ran 0 ->", "sending 0, flushes ->", "ended 0 -> claim 1", "ended 1 -> claim 2",
			},
		},
		{
			name: "it gives up its slot meanwhile", receives: []int{2, 2, 2}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0 a, identified 1 a -> claim 0, decode 2",
			},
		},
		{
			name: "it stays behind its first when one between them goes home", receives: []int{10, 2, 10}, slots: 3,
			lines: []string{
				"-> decode 0, decode 2, decode 1",
				"identified 0 a, identified 1 a, identified 2 a -> claim 0", "claimed 0 -> start 0",
				"drain -> defer 1 drain", "ran 0 ->", "ended 0 -> claim 2",
			},
		},
		{
			name: "and so does one that comes after the last went home", receives: []int{10, 2, 10}, slots: 3,
			lines: []string{
				"-> decode 0, decode 2, decode 1", "identified 0 a, identified 1 a -> claim 0", "drain -> defer 1 drain",
				"identified 2 a ->", "ended 0 -> claim 2",
			},
		},
		{
			name: "one that comes after the end is claimed at once", receives: []int{1, 1}, ahead: 2,
			lines: []string{"-> decode 0, decode 1", "identified 0 a, ended 0 -> claim 0", "identified 1 a -> claim 1"},
		},
	})
}

func TestFIFO(t *testing.T) {
	runAll(t, []scenario{
		{
			name:     "groups run side by side, a group in its order whatever its receives are",
			receives: []int{1, 10, 2, 1}, groups: []int{1, 1, 2, 2}, slots: 4, noLedger: true,
			lines: []string{
				"-> start 0, start 2", "ran 2 ->", "ended 2 -> start 3", "ran 0 ->", "packs, sending 0, flushes ->",
				"ended 0 -> start 1",
			},
		},
		{
			name: "after a failure the rest goes home", receives: []int{1, 1, 10, 1}, groups: []int{1, 1, 1, 2}, ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0 -> claim 0", "failed 0 -> defer 1 group, defer 2 group, decode 3",
			},
		},
		{
			name: "nothing of a group is claimed ahead", receives: []int{1, 1}, groups: []int{1, 1}, ahead: 10,
			lines: []string{"-> decode 0", "identified 0 -> claim 0", "claimed 0 -> start 0"},
		},
		{
			name: "the next is claimed while the head is written", receives: []int{1, 1, 1}, groups: []int{1, 1, 1}, ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0 -> claim 0", "claimed 0 -> start 0", "promising 0, ran 0 -> decode 1",
				"identified 1 -> claim 1", "ended 0 ->", "claimed 1 -> start 1",
			},
		},
		{
			name: "what is claimed ahead is given back behind a failure", receives: []int{1, 1, 1}, groups: []int{1, 1, 1},
			ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0",
				"promising 0, ran 0, identified 1 -> decode 1, claim 1",
				"failed 0 -> defer 2 group", "claimed 1 -> release 1 group",
			},
		},
		{
			name: "what is found out ahead is found out again in its turn", receives: []int{1, 1}, groups: []int{1, 1},
			ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0",
				"promising 0, ran 0, identified 1 -> decode 1, claim 1",
				"postponed 1 ->", "ended 0 -> claim 1",
			},
		},
		{
			name: "redelivered ones are not claimed ahead", receives: []int{1, 2}, groups: []int{1, 1}, ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0", "promising 0, ran 0 ->", "ended 0 -> decode 1",
			},
		},
		{
			name: "a group does not wait for the write that confirms a letter", receives: []int{1, 1}, groups: []int{1, 1},
			ahead: 10,
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0", "ran 0, sending 0, promising 0 -> decode 1",
				"identified 1 -> claim 1", "sent 0, claimed 1 -> start 1", "ended 0, ran 1, ended 1 ->",
			},
		},
		{
			name: "a letter goes out at once where its group waits", receives: []int{1, 1, 1}, groups: []int{1, 1, 2}, slots: 2,
			noLedger: true,
			lines: []string{
				"-> start 0, start 2", "ran 0, sending 0, flushes ->", "ended 0 -> start 1", "ran 1, sending 1, packs ->",
			},
		},
		{
			name: "the rest of a group stays when its head may start", receives: []int{10, 1}, groups: []int{1, 1},
			noLedger: true,
			lines:    []string{"-> start 0", "drain ->", "ran 0, ended 0 -> defer 1 drain"},
		},
	})
}

func TestRefused(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "what was refused begins again in its order", receives: []int{1, 1, 2}, ahead: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 1, refused 0 -> claim 1", "claimed 1 ->", "freed -> start 1, decode 0",
			},
		},
		{
			name: "a start that was refused keeps its claim", receives: []int{2, 2},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0", "refused 0, waits ->", "freed -> start 0",
				"done 0 -> decode 1",
			},
		},
		{
			name: "without a ledger it begins anew", receives: []int{2, 2}, noLedger: true,
			lines: []string{"-> start 0", "refused 0 ->", "freed -> start 0"},
		},
		{
			name: "what was refused in a slot gives it back", receives: []int{2, 2},
			lines: []string{"-> decode 0", "refused 0 ->", "freed -> decode 0"},
		},
		{
			name: "what was refused goes home when there is no time left", receives: []int{2, 2},
			lines: []string{"-> decode 0", "cut -> defer 1 time", "refused 0 -> defer 0 time"},
		},
	})
}

func TestTheEnd(t *testing.T) {
	claims := []string{
		"-> decode 0, decode 1", "identified 0, identified 1 -> claim 0, claim 1",
		"claimed 0, claimed 1 -> start 0, decode 2",
		"identified 2 -> claim 2",
	}
	runAll(t, []scenario{
		{
			name: "after a crash nothing starts", receives: []int{1, 1, 1, 1}, ahead: 2,
			lines: slices.Concat(claims, []string{"poison -> release 1 crash, defer 3 crash", "claimed 2 -> release 2 crash"}),
		},
		{
			name: "after the cut nothing starts", receives: []int{1, 1, 1, 1}, ahead: 2,
			lines: slices.Concat(claims, []string{"cut -> release 1 time, defer 3 time", "claimed 2 -> release 2 time"}),
		},
		{
			name: "a drain leaves the last receives", receives: []int{1, 10, 1}, ahead: 2,
			lines: []string{
				"-> decode 1, decode 0, decode 2", "drain ->", "identified 0 -> defer 0 drain", "identified 1 -> claim 1",
				"claimed 1 -> start 1",
			},
		},
		{
			name: "too late for all but the last receives", receives: []int{10, 10, 1, 1}, noLedger: true,
			lines: []string{"-> start 0", "late -> defer 2 time, defer 3 time", "done 0 -> start 1"},
		},
		{
			name: "too late for the last receives too", receives: []int{10, 10, 10}, noLedger: true,
			lines: []string{"late, hopeless -> start 0, bury 1 time, bury 2 time"},
		},
		{
			name: "at the begin of a batch as many start as there are slots", receives: []int{1, 1, 1}, slots: 2, noLedger: true,
			lines: []string{"late -> start 0, start 1, defer 2 time"},
		},
		{
			name: "but not once a run has ended", receives: []int{1, 1, 1}, slots: 2, ahead: 1,
			lines: []string{
				"late -> decode 0", "identified 0, claimed 0 -> claim 0, start 0, decode 1", "ran 0 -> defer 2 time",
				"identified 1 -> defer 1 time",
			},
		},
		{
			name: "nor is anything claimed ahead then", receives: []int{1, 1, 1}, ahead: 1,
			lines: []string{
				"late -> decode 0", "identified 0, claimed 0 -> claim 0, start 0, defer 1 time, defer 2 time",
			},
		},
		{
			name: "what the batch has claimed is released when the last one has started", receives: []int{1, 1, 1}, ahead: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 0, identified 1, identified 2 -> claim 0, claim 1, claim 2",
				"late, claimed 1 -> start 1", "claimed 0 -> release 0 time",
			},
		},
		{
			name: "what has waited too long for a slot goes home", receives: []int{10, 1, 2, 10, 5}, ahead: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 -> claim 0, start 0", "identified 1, claimed 1 -> claim 1",
				"stalled, waits -> defer 4 slot, release 1 slot, defer 2 slot", "done 0, failed 1 -> decode 3",
			},
		},
		{
			name: "so does a copy whose first runs for long", receives: []int{1, 1, 10}, slots: 2,
			ahead: 3,
			lines: []string{
				"-> decode 2, decode 0, decode 1", "identified 2 a, claimed 2 -> claim 2, start 2",
				"identified 0 a, identified 1 b, claimed 1 -> claim 1, start 1", "done 1, waits ->", "stalled -> defer 0 slot",
			},
		},
		{
			name: "a claim that is lost is given back", receives: []int{1, 1}, ahead: 2,
			lines: slices.Concat(claims[:2], []string{
				"claimed 0, claimed 1 -> start 0", "lost 0 ->", "lost 1 -> release 1 time", "ended 1 ->",
			}),
		},
	})
}

// TestVerdicts are for what has no other receive and cannot start any more.
func TestVerdicts(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "after the cut it is claimed and written off", receives: []int{10, 10, 9},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 -> claim 0, start 0", "cut -> defer 2 time, decode 1 force",
				"identified 1 -> claim 1", "claimed 1 -> bury 1 time", "sending 1 ->", "ended 1, ran 0 ->",
			},
		},
		{
			name: "without a ledger it is written off at once", receives: []int{10, 10}, noLedger: true,
			lines: []string{"-> start 0", "cut -> bury 1 time", "ended 1, done 0, idle ->"},
		},
		{
			name: "so is what is being decoded, being claimed, and claimed", receives: []int{10, 10, 10, 10}, slots: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 1, identified 2 -> claim 1, claim 2",
				"claimed 2 -> start 2", "refused 2 ->", "cut -> bury 2 time, decode 3 force", "claimed 1 -> bury 1 time",
				"identified 0 -> claim 0", "claimed 0 -> bury 0 time",
			},
		},
		{
			name: "so is a suspect", receives: []int{10},
			lines: []string{"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0", "cut -> withdraw 0, bury 0 time"},
		},
		{
			name: "not after a crash", receives: []int{10, 10},
			lines: []string{
				"-> decode 0", "cut -> decode 1 force", "poison, identified 0 -> defer 0 crash", "identified 1 -> defer 1 crash",
			},
		},
		{
			name: "not for long", receives: []int{10, 10, 10}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0 a -> claim 0", "identified 1 a -> decode 2", "cut ->",
				"identified 2 -> claim 2", "verdictsover -> defer 1 time", "claimed 2 -> release 2 time",
				"claimed 0 -> release 0 time",
			},
		},
		{
			name: "a copy waits for the verdict on its first", receives: []int{10, 10},
			lines: []string{
				"cut -> decode 0 force, decode 1 force", "identified 0 a, identified 1 a -> claim 0",
				"claimed 0 -> bury 0 time", "ended 0 -> claim 1",
			},
		},
		{
			name: "only the head of a group", receives: []int{10, 10, 10}, groups: []int{1, 1, 1}, noLedger: true,
			lines: []string{"-> start 0", "cut ->", "ran 0, ended 0 -> bury 1 time", "failed 1 -> defer 2 group"},
		},
	})
}

// TestVerdictsInTurn are at most 16 at a time, and copies do not take up the room.
func TestVerdictsInTurn(t *testing.T) {
	t.Parallel()
	s := scenario{receives: slices.Repeat([]int{10}, 40)}
	c := &owner{q: s.queue(), jobs: strings.Split(strings.Repeat("copy ", 40), " ")}
	c.q.Cut()
	c.do(c.q.Next())
	if len(c.open) != 16 {
		t.Errorf("%d verdicts at once", len(c.open))
	}
	most := 0
	for n := 0; !c.q.Idle(); n++ {
		if len(c.open) == 0 {
			t.Fatal("the queue stands still")
		}
		most = max(most, len(c.open))
		c.step(n % len(c.open))
		if wrong := c.q.Invariants(); wrong != nil {
			t.Fatal(wrong)
		}
	}
	if most > 17 { // with the one whose copies wait
		t.Errorf("%d verdicts at once", most)
	}
	if c.did[runqueue.Bury] != 40 {
		t.Errorf("%d of 40 were written off", c.did[runqueue.Bury])
	}
}
