package simulation

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sqsafe/sqsafe/idem"
)

// Forgetter is a store that can delete an item behind the protocol's back, as
// DynamoDB does with one that has expired. [Model] uses it where there is one.
type Forgetter interface {
	// Forget deletes the item of that id, if there is one.
	Forget(ctx context.Context, id string) error
}

// ModelOptions say how much [Model] walks. The zero value works.
type ModelOptions struct {
	// Histories is the number of histories; 0 means 200.
	Histories int
	// Seed is that of the first history, the next has the next; 0 means 1.
	Seed uint64
	// Deploys says that every history has processes of two versions, as while one is
	// deployed or rolled back; without it some histories have.
	Deploys bool
	// Count is told what the histories of a fleet meet, such as "lone run": a history
	// that meets nothing shows nothing. It must be safe for concurrent use. Nil counts
	// nothing.
	Count func(what string)
}

// ReadModelOptions gives the options as two texts have them, such as those of
// environment variables: the number of histories, which may be empty for as many
// as few says, and the seed, which may be empty for 1.
func ReadModelOptions(t *testing.T, histories, seed string, few int) ModelOptions {
	t.Helper()
	o := ModelOptions{Histories: few, Seed: 1}
	if histories != "" {
		n, err := strconv.Atoi(histories)
		if err != nil || n < 1 {
			t.Fatalf("the number of histories is %q, want one such as 100000", histories)
		}
		o.Histories = n
	}
	if seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil || n < 1 {
			t.Fatalf("the seed is %q, want a number as a broken history tells it", seed)
		}
		o.Seed = n
	}
	return o
}

// Violation is a promise that a history has broken.
type Violation struct {
	// Seed gives the history again.
	Seed uint64
	// Rule names the promise.
	Rule string
	// Detail is what was seen, and History what led to it, line by line.
	Detail  string
	History []string
}

// Error tells the promise, the history and how to see it again.
func (v *Violation) Error() string {
	return fmt.Sprintf("history of seed %d: %s: %s\n%s\nto see it again, set the seed to %d and walk 1 history",
		v.Seed, v.Rule, v.Detail, strings.Join(v.History, "\n"), v.Seed)
}

// Model lets workers with the real [handler.Processor] and [idem.Ledger] share a store through
// random histories: leases lapse, answers are lost on the way and writes arrive
// late, processes stall and die, messages come twice, are sent again and
// replayed, clocks differ, and the dead-letter queue does not answer. Whatever
// happens, a job is owned once at a time, nothing of another owner is
// overwritten, completion is final until it expires, effects repeat only where
// nobody could know of them, and every job comes to its end.
//
// A history follows from its seed, but for the order of what happens at one moment in
// the processor. Time is virtual. newStore is called in bubbles of [synctest.Test], so
// the store may have no sockets.
func Model(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions) {
	t.Helper()
	model(t, newStore, o, o.ofOneJob)
}

// Find walks as [Model] does and gives the first violation; nil if there is
// none. It shows that the model has teeth: a broken store must not get through.
func Find(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions) *Violation {
	t.Helper()
	return find(t, newStore, o, o.ofOneJob)
}

// ModelFleet lets whole processes share a store through random histories: each
// has several invocations at a time of the real [handler.Processor], whose
// batches hold jobs that end the process, by a panic, without a word or by never
// coming back, beside others that do not. Processes are killed between any two
// calls, and calls fail. Whatever happens, a suspect runs alone, an effect comes
// once unless its process dies before the record, no innocent is taken for the
// cause or pays for it with its budget, and every loop ends.
//
// Otherwise it is as [Model].
func ModelFleet(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions) {
	t.Helper()
	model(t, newStore, o, o.ofAFleet)
}

// FindFleet walks as [ModelFleet] does and gives the first violation; nil if
// there is none.
func FindFleet(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions) *Violation {
	t.Helper()
	return find(t, newStore, o, o.ofAFleet)
}

// history walks that of a seed and gives its violation.
type history func(t *testing.T, store idem.Store, seed uint64, telling bool) *Violation

func (o ModelOptions) ofOneJob(t *testing.T, store idem.Store, seed uint64, telling bool) *Violation {
	return newWorld(t, store, seed, o.Deploys, telling).live()
}

// ofAFleet counts what the histories meet.
func (o ModelOptions) ofAFleet(t *testing.T, store idem.Store, seed uint64, telling bool) *Violation {
	f := newFleet(t, store, seed, o.Deploys, telling)
	if !telling {
		f.counts = o.Count
	}
	return f.live()
}

func model(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions, live history) {
	t.Helper()
	first, last := o.seeds()
	for from := first; from <= last; from += bubbleHistories {
		to := min(from+bubbleHistories-1, last)
		t.Run(fmt.Sprintf("seeds %d to %d", from, to), func(t *testing.T) {
			t.Parallel()
			if v := walk(t, newStore, from, to, live); v != nil {
				t.Error(v)
			}
		})
	}
}

func find(t *testing.T, newStore func(t *testing.T) idem.Store, o ModelOptions, live history) *Violation {
	t.Helper()
	first, last := o.seeds()
	for from := first; from <= last; from += bubbleHistories {
		if v := walk(t, newStore, from, min(from+bubbleHistories-1, last), live); v != nil {
			return v
		}
	}
	return nil
}

// bubbleHistories is how many histories share a bubble and a store, each with a
// job of its own.
const bubbleHistories = 50

func (o ModelOptions) seeds() (first, last uint64) {
	histories := o.Histories
	if histories <= 0 {
		histories = 200
	}
	first = max(o.Seed, 1)
	return first, first + uint64(histories) - 1
}

// walk gives the first violation of the seeds. It is walked once more, alone,
// for its history to be told.
func walk(t *testing.T, newStore func(t *testing.T) idem.Store, from, to uint64, live history) *Violation {
	t.Helper()
	var broken *Violation
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		for seed := from; seed <= to && broken == nil; seed++ {
			broken = live(t, store, seed, false)
		}
	})
	if broken == nil || broken.History != nil {
		return broken
	}
	synctest.Test(t, func(t *testing.T) {
		if told := live(t, newStore(t), broken.Seed, true); told != nil {
			broken = told
		}
	})
	return broken
}
