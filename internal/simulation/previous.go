package simulation

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// previous is the ledger of the version before, as far as that reads and writes items
// in another way. One claim without a result makes a suspect, nothing is claimed ahead,
// and the end of a run settles its own claim alone. The tables of what is written when
// are the same, which a test of package idem holds.
type previous struct{ handler.Ledger }

// Ahead implements [handler.Ledger].
func (previous) Ahead() bool { return false }

// Claim implements [handler.Ledger].
func (l previous) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	a := l.Ledger.Claim(ctx, m, id, end)
	if a.Unsettled >= previousSuspect {
		a.Unsettled = max(a.Unsettled, crashSuspect)
	}
	return a
}

// previousSuspect is the number of claims without a result that made a suspect.
const previousSuspect = 1

// Previous returns the ledger of the version before around one of this version.
func Previous(l handler.Ledger) handler.Ledger { return previous{l} }

// PreviousClaim returns a claim as the version before knows it: without its number, a
// settlement counts one more than were settled.
func PreviousClaim(c idem.Claim) idem.Claim {
	c.Claims = 0
	return c
}

// version is what one process runs.
type version bool

const (
	present version = false
	before  version = true
)

// String names the version.
func (v version) String() string {
	if v == before {
		return "the version before"
	}
	return "this version"
}

// ledger is the one that a process of the version has.
func (v version) ledger(l *idem.Ledger) handler.Ledger {
	if v == before {
		return Previous(l)
	}
	return l
}

// claim is a claim as the version knows it.
func (v version) claim(c idem.Claim) idem.Claim {
	if v == before {
		return PreviousClaim(c)
	}
	return c
}

// suspects is the number of claims without a result that make a suspect.
func (v version) suspects() int {
	if v == before {
		return previousSuspect
	}
	return crashSuspect
}

// deployment is how the versions follow each other in a history.
type deployment int

const (
	onlyPresent deployment = iota
	rollsOut
	rollsBack
	alternates
)

// drawDeployment gives a deployment; always one of two versions if there is to be one.
func drawDeployment(rng *rand.Rand, always bool) deployment {
	if always {
		return rollsOut + deployment(rng.IntN(3))
	}
	return []deployment{onlyPresent, onlyPresent, rollsOut, rollsBack, alternates}[rng.IntN(5)]
}

// chance is a number from 0 to 1 for one process. It follows from the history alone,
// since a process may start beside the scheduler, which has the source of the others.
func chance(seed uint64, index, generation int) float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(index+100*generation))) //nolint:gosec // the seed makes a history repeatable
	return rng.Float64()
}

// draw gives the version of a process that starts when that share of the history has
// passed, by a number from 0 to 1.
func (d deployment) draw(share, chance float64) version {
	switch d {
	case rollsOut:
		return chance >= share
	case rollsBack:
		return chance < share
	case alternates:
		return chance < 0.5
	}
	return present
}
