// Package deadline divides the time of one invocation between running jobs and
// what has to follow them.
//
// The reserve is the end of an invocation, in which no job runs. It is a tenth of the
// time and at least two seconds, but never more than half of the time. Its start is the
// cut. Each stage has a part of the reserve, so that later stages have time even if an
// earlier one hangs. In seconds after the start of the invocation:
//
//	stage    reserve     3 s    10 s    30 s   900 s
//	Cut          0 %     1.5       8      27     810  nothing starts; jobs are cancelled
//	Leave       25 %   1.875     8.5   27.75   832.5  user code is abandoned
//	Settle      50 %    2.25       9    28.5     855  writes to the ledger end
//	Letters     70 %    2.55     9.4    29.1     873  calls to the dead-letter queue end
//	Hide        90 %    2.85     9.8    29.7     891  visibility changes and deletions end
//	Answer      95 %   2.925     9.9   29.85   895.5  the watchdog answers
//
// An invocation without a deadline has no stages until its host cancels it or a job
// crashes.
package deadline

import (
	"context"
	"time"
)

const (
	// MinReserve is the least reserve, unless the invocation is shorter than twice that.
	MinReserve = 2 * time.Second
	// Grace is the reserve of an invocation without a deadline, from the time its host
	// cancels it. A write to the ledger may take that long.
	Grace = 10 * time.Second
	// graceLeave is how long cancelled user code then has to return.
	graceLeave = time.Second
	// CrashGrace is how long other jobs may go on after a job has crashed.
	CrashGrace = 5 * time.Second
	// ClockMargin is the difference of two clocks that is allowed for. A lease lasts so much
	// longer than what it is for, and nothing starts in its last part of that length.
	ClockMargin = 2 * time.Second
)

// EndReason returns why nothing may start under a context that has ended: noTime after its
// deadline, or cancelled. It is empty if the context has not ended.
func EndReason(ctx context.Context, noTime, cancelled string) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return noTime
	default:
		return cancelled
	}
}

// Stage is a point in time within the reserve.
type Stage int

const (
	// Cut is the start of the reserve: nothing starts any more, and running jobs are
	// cancelled.
	Cut Stage = iota
	// Leave is when user code that has not returned is abandoned. From then on no job at
	// its last receive is claimed to be dead-lettered.
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

// elapsed is the part of the reserve that has passed at each stage, in percent.
var elapsed = [...]int64{Cut: 0, Leave: 25, Settle: 50, Letters: 70, Hide: 90, Answer: 95}

// Table has the stages of one invocation. The zero value has no deadline.
type Table struct {
	start, cut, end, leave time.Time
	// jobs is the time for jobs when the invocation began.
	jobs time.Duration
}

// New returns the table of an invocation from start to end. A zero end means no deadline.
// A reserve of 0 means a tenth of the time, and at least MinReserve; it is never more
// than half of the time.
func New(start, end time.Time, reserve time.Duration) Table {
	t := Table{start: start}
	if end.IsZero() {
		return t
	}
	end = start.Add(end.Sub(start)) // a host names the end by the time of day alone
	total := max(end.Sub(start), 0)
	if reserve <= 0 {
		reserve = max(MinReserve, total/10)
	}
	t.end = end
	t.cut = end.Add(-min(reserve, total/2))
	t.jobs = max(t.cut.Sub(start), 0)
	return t
}

// Bounded reports whether the invocation has a deadline.
func (t Table) Bounded() bool { return !t.end.IsZero() }

// End returns the deadline; zero without one.
func (t Table) End() time.Time { return t.end }

// At returns when a stage begins; zero without a deadline.
func (t Table) At(s Stage) time.Time {
	if !t.Bounded() {
		return time.Time{}
	}
	if s == Leave && !t.leave.IsZero() {
		return t.leave
	}
	return t.cut.Add(t.end.Sub(t.cut) * time.Duration(elapsed[s]) / 100)
}

// Reached reports whether the stage has begun; false without a deadline.
func (t Table) Reached(s Stage, now time.Time) bool {
	return t.Bounded() && !now.Before(t.At(s))
}

// LastStart returns when the last job may start if it takes as long as longest; zero
// without a deadline.
func (t Table) LastStart(longest time.Duration) time.Time {
	if !t.Bounded() {
		return time.Time{}
	}
	return t.cut.Add(-longest)
}

// HadItsTime reports whether a job that ran so long had at least half of the time for
// jobs. A job that had less is not blamed for not having ended. Without a deadline it is
// false, since the host or another job's crash has ended the run.
func (t Table) HadItsTime(ran time.Duration) bool {
	return t.jobs > 0 && ran >= t.jobs/2
}

// HadMostOfItsTime reports whether a job that ran so long had at least three quarters
// of that time.
func (t Table) HadMostOfItsTime(ran time.Duration) bool {
	return t.jobs > 0 && ran >= t.jobs-t.jobs/4
}

// HasMostOfItsTime reports whether a job that starts now can have three quarters of that
// time; true without a deadline.
func (t Table) HasMostOfItsTime(now time.Time) bool {
	return !t.Bounded() || now.Sub(t.start) <= t.jobs/4
}

// Cancelled returns the table after the host has cancelled the invocation: the cut is
// now, unless it has passed, and at most Grace is left.
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

// Crashed returns the table after a crash. The cut comes after at most CrashGrace, and
// user code is abandoned soon after it. Without a deadline, Grace follows the cut.
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
