package backoff

import (
	"cmp"
	"time"
)

// Constant is the same delay after every failure. Its Interval has to be set,
// the other fields may stay zero. A value is safe for concurrent use.
type Constant struct {
	// Interval is the delay, at least 1 s. It has no default, since a delay that
	// does not grow has to fit what is waited for.
	Interval time.Duration
	// Jitter is the share of the delay that additive jitter adds at most, above 0
	// and at most 1; 0 means [DefaultJitter].
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds have no use for a Jitter.
	JitterKind JitterKind
	// MaxAttempts is how many runs a job gets, the first included, 1 to 1,000; 0
	// means [DefaultMaxAttempts].
	MaxAttempts int
}

// Delay is drawn from a range around Interval as JitterKind says, to the
// nanosecond. The number of the failure makes no difference.
func (c Constant) Delay(_ int, random func() float64) time.Duration {
	return c.jitter().draw(c.Interval, random)
}

// Attempts is how many runs a job gets, the first included.
func (c Constant) Attempts() int { return cmp.Or(c.MaxAttempts, DefaultMaxAttempts) }

func (c Constant) jitter() jitter { return newJitter(c.JitterKind, c.Jitter, DefaultJitter) }
