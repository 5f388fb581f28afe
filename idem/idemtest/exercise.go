package idemtest

import (
	"slices"
	"testing"

	"github.com/sqsafe/sqsafe/idem"
)

// Exercise runs the suite as subtests of t, each against a store of its own.
// newStore gives a store that is empty and used by nobody else.
func Exercise(t *testing.T, newStore func(t *testing.T) idem.Store) {
	t.Helper()
	for _, c := range slices.Concat(
		claimCases, settleCases, aloneCases, renewCases, stepCases, deathCases, epochCases, conflictCases,
	) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newBench(t, newStore(t)))
		})
		t.Run(c.name+", with answers lost", func(t *testing.T) {
			t.Parallel()
			c.run(newBench(t, losing{newStore(t)}))
		})
	}
}

// testCase is one behaviour that a store has to show.
type testCase struct {
	name string
	run  func(b *bench)
}
