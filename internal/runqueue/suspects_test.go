package runqueue_test

import (
	"slices"
	"testing"
)

func TestSuspects(t *testing.T) {
	// Delivery 0 is a suspect of few receives, 1 runs, 2 waits.
	begin := []string{
		"-> decode 0", "identified 0, claimed 0 2 -> claim 0, decode 1", "identified 1, claimed 1 -> claim 1, start 1",
	}
	runAll(t, []scenario{
		{
			name: "two unsettled claims or a crash make one", receives: []int{2, 2, 2}, slots: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 0, identified 1, identified 2 -> claim 0, claim 1, claim 2",
				"claimed 0 1 0 -> start 0 quiet", "claimed 1 2 0, claimed 2 0 1 ->",
			},
		},
		{
			name: "it runs alone, after all others", receives: []int{2, 2, 2},
			lines: slices.Concat(begin, []string{
				"ran 1 -> decode 2", "identified 2, ended 1 -> claim 2", "claimed 2 -> start 2", "ran 2 ->",
				"sending 2, flushes ->", "ended 2 -> ask 0 hold", "granted 0 -> start alone 0", "ran 0 ->",
				"ended 0 -> free 0",
			}),
		},
		{
			name: "nothing starts before its own settle is answered", receives: []int{6, 2},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0 hold", "granted 0 -> start alone 0", "ran 0 ->",
				"sending 0 -> free 0, decode 1",
			},
		},
		{
			name: "a lone run that lasts long keeps nobody back", receives: []int{6, 2}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "ended 1, identified 0, claimed 0 2 -> claim 0, ask 0 hold",
				"granted 0 -> start alone 0", "loneover 0 -> free 0", "loneover 0, ran 0, ended 0, idle ->",
			},
		},
		{
			name: "an urgent one holds the batch back", receives: []int{6, 1, 1}, slots: 2, ahead: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 1, claimed 1 -> claim 1, start 1, decode 2",
				"identified 0, claimed 0 0 1 -> claim 0", "identified 2 -> claim 2", "claimed 2, done 1, waits -> ask 0 hold",
				"granted 0 -> start alone 0", "done 0 -> free 0, start 2",
			},
		},
		{
			name: "urgent ones go first, then those that crashed less", receives: []int{6, 6, 2, 2}, slots: 4,
			lines: []string{
				"-> decode 0, decode 1, decode 2, decode 3",
				"identified 2, claimed 2 3, identified 3, claimed 3 2, identified 0, claimed 0 0 1, identified 1 -> " +
					"claim 2, claim 3, claim 0, claim 1",
				"claimed 1 2 -> ask 1 hold", "granted 1, done 1 -> start alone 1, free 1, ask 0 hold",
				"granted 0, done 0 -> start alone 0, free 0, ask 2 hold",
			},
		},
		{
			name: "who does not get the process comes back later", receives: []int{7, 1},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0 hold", "denied 0 -> release 0 notalone, decode 1",
			},
		},
		{
			name: "or runs beside others from three quarters of its receives on", receives: []int{8, 1}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 2 -> claim 0", "identified 1, settling 1 -> claim 1",
				"ended 1 -> ask 0 hold", "denied 0 -> start 0 quiet",
			},
		},
		{
			name: "who has waited too long as well", receives: []int{6, 8, 2}, slots: 3,
			lines: []string{
				"-> decode 1, decode 0, decode 2",
				"identified 0, claimed 0 2, identified 1, claimed 1 2 -> claim 0, claim 1",
				"stalled -> release 0 notalone", "ended 0 -> start 1 quiet",
			},
		},
		{
			name: "at its last receive it holds nobody back", receives: []int{10, 1}, slots: 2, ahead: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 2 -> claim 0", "refused 1 -> ask 0", "freed -> decode 1",
				"identified 1, claimed 1 -> claim 1, start 1", "done 1 ->", "granted 0 -> start alone 0",
			},
		},
		{
			name: "it waits until there is no time for another run", receives: []int{10, 1}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 2 -> claim 0", "identified 1, claimed 1 -> claim 1, start 1",
				"drain, late ->", "done 1 -> start 0 quiet",
			},
		},
		{
			name: "it asks no longer then", receives: []int{10, 1}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 2 -> claim 0", "identified 1, claimed 1 -> claim 1, start 1",
				"done 1 -> ask 0", "late -> withdraw 0, start 0 quiet",
			},
		},
		{
			name: "or until it has waited too long", receives: []int{10},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0", "stalled -> withdraw 0, start 0 quiet",
			},
		},
		{
			name: "it lets one go first that can hold the process", receives: []int{10, 6}, slots: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 2 -> claim 0", "identified 1 -> claim 1",
				"claimed 1 2 -> ask 0", "slow 0 -> withdraw 0, ask 1 hold", "granted 1, done 1 -> start alone 1, free 1, ask 0",
			},
		},
		{
			name: "what was withdrawn and comes all the same is given back", receives: []int{6},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0 hold",
				"lost 0 -> withdraw 0, release 0 time", "granted 0 -> free 0", "denied 0 ->",
			},
		},
		{
			name: "a claim that is given back comes before the lone run", receives: []int{6, 1}, slots: 2, ahead: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 1, claimed 1 -> claim 1, start 1", "refused 1 ->",
				"identified 0, claimed 0 2 -> claim 0, ask 0 hold", "lost 1 -> release 1 time", "granted 0 ->",
				"ended 1 -> start alone 0",
			},
		},
		{
			name: "who has the process keeps it until then", receives: []int{10, 1, 1}, slots: 2, ahead: 2,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 1, claimed 1 -> claim 1, start 1", "done 1 ->",
				"identified 2, claimed 2 -> claim 2, start 2", "refused 2 ->",
				"identified 0, claimed 0 2 -> claim 0, ask 0", "lost 2 -> release 2 time", "granted 0, stalled, late ->",
				"ended 2 -> start alone 0",
			},
		},
		{
			name: "nothing begins while one holds the process", receives: []int{2, 2, 2}, slots: 3,
			lines: []string{
				"-> decode 0, decode 1, decode 2", "identified 0, claimed 0 2, identified 1 a, identified 2 a -> claim 0, claim 1",
				"claimed 1 3 -> ask 0 hold", "lost 1 -> release 1 time", "ended 1 ->", "granted 0 -> start alone 0",
				"done 0 -> free 0, claim 2",
			},
		},
		{
			name: "the process is given back when there is no run after all", receives: []int{6, 1}, ahead: 1,
			lines: []string{
				"-> decode 0, decode 1", "identified 1, claimed 1 -> claim 1", "identified 0, claimed 0 2 -> claim 0, ask 0 hold",
				"lost 1 -> release 1 time", "granted 0, waits ->", "cut -> free 0, release 0 time",
			},
		},
	})
}

func TestBreaker(t *testing.T) {
	runAll(t, []scenario{
		{
			name: "a first delivery is the probe, and the rest goes home", receives: []int{2, 1, 1}, ahead: 10,
			lines: []string{
				"open -> ask probe 1", "probed 1 -> defer 2 breaker, defer 0 breaker, decode 1",
				"identified 1, claimed 1 -> claim 1, start 1",
			},
		},
		{
			name: "or one that is claimed", receives: []int{1, 1, 1}, ahead: 2,
			lines: []string{
				"-> decode 0, decode 1", "identified 0, claimed 0 -> claim 0, start 0, decode 2",
				"identified 1, claimed 1 -> claim 1", "open -> ask probe 1", "probed 1, open ->", "identified 2 -> defer 2 breaker",
				"done 0 -> start 1",
			},
		},
		{
			name: "or a redelivered one", receives: []int{2, 2}, ahead: 10,
			lines: []string{"open -> ask probe 0", "probed 0 -> defer 1 breaker, decode 0"},
		},
		{
			name: "or a copy whose first has ended", receives: []int{2, 2, 2},
			lines: []string{
				"-> decode 0", "identified 0 a, claimed 0 -> claim 0, start 0", "ran 0 -> decode 1",
				"identified 1 a -> decode 2", "ended 0 ->", "open -> ask probe 1",
				"probed 1, ended 2 -> claim 1",
			},
		},
		{
			name: "or the head of a group", receives: []int{2, 1, 2}, groups: []int{1, 1, 2}, noLedger: true,
			lines: []string{"open -> ask probe 0", "probed 0 -> defer 2 breaker, start 0", "done 0 -> defer 1 breaker"},
		},
		{
			name: "without a probe only last receives start", receives: []int{2, 10}, noLedger: true,
			lines: []string{"open -> ask probe 0", "unprobed 0 -> defer 0 breaker, start 1"},
		},
		{
			name: "the probe of the time before does not count", receives: []int{1, 1, 1}, noLedger: true,
			lines: []string{
				"-> start 0", "open -> ask probe 1", "probed 1 -> defer 2 breaker", "closed, open -> ask probe 1",
				"unprobed 1 -> defer 1 breaker",
			},
		},
		{
			name: "it is asked for once", receives: []int{1, 1}, ahead: 1,
			lines: []string{
				"-> decode 0", "open -> ask probe 1", "unprobed 1, open -> defer 1 breaker", "identified 0 -> defer 0 breaker",
			},
		},
		{
			name: "no probe where nothing could start anyway", receives: []int{1, 1, 10}, ahead: 1,
			lines: []string{"-> decode 2, decode 0", "drain -> defer 1 drain", "open ->"},
		},
		{
			name: "a suspect goes home, too", receives: []int{6},
			lines: []string{
				"-> decode 0", "identified 0, claimed 0 2 -> claim 0, ask 0 hold", "open -> withdraw 0, release 0 breaker",
			},
		},
	})
}
