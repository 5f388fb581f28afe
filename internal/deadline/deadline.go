// Package deadline divides the time of one invocation between running jobs and
// what has to follow them.
//
// The end of an invocation is kept free of jobs: this is the reserve. From its
// begin, the cut, each stage has a part of it, so that what follows still has
// time when the stage before it hangs.
package deadline

import "time"

const (
	// MinReserve is the least reserve of an invocation that is long enough.
	MinReserve = 2 * time.Second
	// Grace is the reserve of an invocation without a deadline once its host has
	// cancelled it: as long as a write to the ledger may take.
	Grace = 10 * time.Second
	// graceLeave is how long cancelled user code has to return there.
	graceLeave = time.Second
	// CrashGrace is how long jobs may go on beside one that has crashed.
	CrashGrace = 5 * time.Second
)

// Stage is a point in time within the reserve.
type Stage int

const (
	// Cut is the begin of the reserve: nothing starts any more, and running jobs
	// are cancelled.
	Cut Stage = iota
	// Leave is when user code that has not returned is left behind, and when no
	// job at its last receive is claimed any more.
	Leave
	// Settle is when writes to the ledger end.
	Settle
	// Letters is when calls to the dead-letter queue end.
	Letters
	// Hide is when visibility changes and deletions end.
	Hide
	// Answer is when the watchdog answers.
	Answer
)

// shares is the whole table: how much of the reserve has passed at each stage.
var shares = [...]float64{Cut: 0, Leave: 0.25, Settle: 0.5, Letters: 0.7, Hide: 0.9, Answer: 0.95}

// Table is the time of one invocation. The zero value has no limit.
type Table struct {
	start, cut, end, leave time.Time
	// jobs is how long the invocation had for jobs when it began.
	jobs time.Duration
}

// New returns the table of an invocation that began at start and ends at end.
// A zero end means no limit. A reserve of 0 means a tenth of the time, and at
// least MinReserve; it is never more than half of the time.
func New(start, end time.Time, reserve time.Duration) Table {
	t := Table{start: start}
	if end.IsZero() {
		return t
	}
	total := max(end.Sub(start), 0)
	if reserve <= 0 {
		reserve = max(MinReserve, total/10)
	}
	t.end = end
	t.cut = start.Add(total - min(reserve, total/2))
	if end.Before(start) {
		t.cut = end
	}
	t.jobs = max(t.cut.Sub(start), 0)
	return t
}

// Bounded reports whether the invocation has a limit.
func (t Table) Bounded() bool { return !t.end.IsZero() }

// End is the end of the invocation; zero without a limit.
func (t Table) End() time.Time { return t.end }

// Left is the time until the end of the invocation; 0 without a limit.
func (t Table) Left(now time.Time) time.Duration {
	if !t.Bounded() {
		return 0
	}
	return max(t.end.Sub(now), 0)
}

// At is when a stage begins; zero without a limit.
func (t Table) At(s Stage) time.Time {
	if !t.Bounded() {
		return time.Time{}
	}
	if s == Leave && !t.leave.IsZero() {
		return t.leave
	}
	return t.cut.Add(time.Duration(shares[s] * float64(t.end.Sub(t.cut))))
}

// Reached reports whether the stage has begun. Without a limit none does.
func (t Table) Reached(s Stage, now time.Time) bool {
	return t.Bounded() && !now.Before(t.At(s))
}

// LastStart is when the last job may start if it takes as long as longest; zero
// without a limit.
func (t Table) LastStart(longest time.Duration) time.Time {
	if !t.Bounded() {
		return time.Time{}
	}
	return t.cut.Add(-longest)
}

// HadItsTime reports whether a job that ran so long had at least half of the time
// that the invocation has for jobs. One that had less is not to be blamed for not
// having ended.
func (t Table) HadItsTime(ran time.Duration) bool {
	return t.jobs > 0 && ran >= t.jobs/2
}

// HadMostOfItsTime reports whether a job that ran so long had at least three quarters
// of that time.
func (t Table) HadMostOfItsTime(ran time.Duration) bool {
	return t.jobs > 0 && ran >= t.jobs-t.jobs/4
}

// HasMostOfItsTime reports whether a job that starts now can have as much. Without a
// limit each can.
func (t Table) HasMostOfItsTime(now time.Time) bool {
	return !t.Bounded() || now.Sub(t.start) <= t.jobs/4
}

// Cancelled returns the table of an invocation without a limit whose host has
// cancelled it: the cut is now, and Grace is left. An invocation with a limit
// keeps its end and is cut now.
func (t Table) Cancelled(now time.Time) Table {
	end := now.Add(Grace)
	if t.Bounded() && t.end.Before(end) {
		end = t.end
	}
	t.end = end
	if t.cut.IsZero() || now.Before(t.cut) {
		t.cut = now
	}
	if leave := now.Add(graceLeave); leave.Before(t.At(Leave)) {
		t.leave = leave
	}
	return t
}

// Crashed returns the table after a crash: the cut comes at the latest in
// CrashGrace.
func (t Table) Crashed(now time.Time) Table {
	cut := now.Add(CrashGrace)
	if t.Bounded() {
		if cut.Before(t.cut) {
			t.leave = cut.Add(min(CrashGrace, t.end.Sub(cut)/4))
			t.cut = cut
		}
		return t
	}
	t.cut, t.end = cut, cut.Add(Grace)
	t.leave = cut.Add(graceLeave)
	return t
}
