package backoff

import (
	"cmp"
	"time"
)

// Constant is a profile with the same delay after every failure. Interval is
// required, the other fields may be zero. A value is safe for concurrent use.
type Constant struct {
	// Interval is the delay, at least 1 s. It has no default: the right value
	// of a delay that does not grow depends on what the job waits for.
	Interval time.Duration
	// Jitter is the largest part of the delay that additive jitter adds, above
	// 0 and at most 1; 0 means [DefaultJitter].
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds do not use Jitter.
	JitterKind JitterKind
	// MaxAttempts is the maximum number of runs of a job, the first included, 1
	// to 1,000; 0 means [DefaultMaxAttempts].
	MaxAttempts int
}

// Delay returns a delay drawn from a range around Interval, as JitterKind says,
// to the nanosecond. It does not depend on the number of the failure.
func (c Constant) Delay(_ int, random func() float64) time.Duration {
	return c.jitter().draw(c.Interval, random)
}

// Attempts returns the maximum number of runs of a job, the first included.
func (c Constant) Attempts() int { return cmp.Or(c.MaxAttempts, DefaultMaxAttempts) }

func (c Constant) jitter() jitter { return newJitter(c.JitterKind, c.Jitter, DefaultJitter) }
