package simulation

import "context"

// task is a goroutine that waits for the scheduler.
type task struct {
	worker *worker
	at     point
	ctx    context.Context
	resume chan order
}

// point is where a task waits: ahead of something that can go wrong, or behind it.
type point int

const (
	atCall point = iota
	atPause
	atAnswer
	atRenew
	atRenewPause
	atRenewed
	atJob
	atSend
	atDelete
)

// order is what the scheduler makes of a task.
type order int

const (
	goOn  order = iota
	die         // the process ends here
	drop        // the call is not carried out, and fails
	lose        // it is carried out, and its answer lost
	stray       // it fails, and is carried out later
	twice       // it is carried out, its answer lost, and repeated
	echo        // it is carried out and answered, and once more later

	// What the job does.
	succeed
	failBefore // it fails before its effect
	failAfter  // it fails although it has had its effect
	failOddly
	refuse
	panicBefore
	panicAfter
	exitBefore // it ends the process without a word
	exitAfter
	strand  // a goroutine of its panics
	abandon // it has its effect, but nobody waits for it any more
)

// acts tells whether the job has its effect.
func (o order) acts() bool {
	return o == succeed || o == failAfter || o == panicAfter || o == exitAfter || o == strand || o == abandon
}

// fate draws what becomes of a task.
func (w *world) fate(t *task) order {
	wrong := !w.quiet && w.rng.Float64() < w.faults
	switch t.at {
	case atJob:
		return w.jobFate()
	case atCall, atRenew:
		if t.ctx.Err() != nil {
			return []order{drop, lose}[w.rng.IntN(2)]
		}
		if wrong {
			return []order{drop, lose, stray, twice, echo, stray}[w.rng.IntN(6)]
		}
	case atSend, atDelete:
		if wrong {
			return []order{drop, lose}[w.rng.IntN(2)]
		}
	}
	return goOn
}

// jobFate draws what the job does.
func (w *world) jobFate() order {
	if w.rng.Float64() >= w.fragile {
		return succeed
	}
	fates := []order{
		failBefore, failAfter, failOddly, failOddly, refuse, refuse, refuse,
		panicBefore, panicAfter, exitBefore, exitAfter, abandon,
	}
	return fates[w.rng.IntN(len(fates))]
}
