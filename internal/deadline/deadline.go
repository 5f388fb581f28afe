// Package deadline divides the time of one invocation between running jobs and
// what has to follow them.
//
// The end of an invocation is kept free of jobs: this is the reserve. It is a tenth
// of the time and at least two seconds, but never more than half of the time. From
// its begin, the cut, each stage has a part of it, so that what follows still has
// time when the stage before it hangs. In seconds after the begin:
//
//	stage    reserve     3 s    10 s    30 s   900 s
//	Cut          0 %     1.5       8      27     810  nothing starts; jobs are cancelled
//	Leave       25 %   1.875     8.5   27.75   832.5  user code is left behind
//	Settle      50 %    2.25       9    28.5     855  writes to the ledger end
//	Letters     70 %    2.55     9.4    29.1     873  calls to the dead-letter queue end
//	Hide        90 %    2.85     9.8    29.7     891  visibility changes and deletions end
//	Answer      95 %   2.925     9.9   29.85   895.5  the watchdog answers
//
// An invocation without a limit has no stages until its host cancels it or a job
// crashes.
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

// shares is the whole table: how much of the reserve has passed at each stage, in
// percent.
var shares = [...]int64{Cut: 0, Leave: 25, Settle: 50, Letters: 70, Hide: 90, Answer: 95}

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
	t.cut = end.Add(-min(reserve, total/2))
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
	return t.cut.Add(t.end.Sub(t.cut) * time.Duration(shares[s]) / 100)
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
// having ended, nor is any without a limit: somebody else has ended it.
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

// Cancelled returns the table of an invocation that its host has cancelled: the cut
// is now, if it has not been, and no more than Grace is left.
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
// CrashGrace, and user code is left behind soon after it. An invocation without a
// limit has Grace from then on.
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
