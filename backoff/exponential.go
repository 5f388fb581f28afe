package backoff

import (
	"cmp"
	"math"
	"time"
)

// The defaults for zero fields of [Exponential]. With them, the seven retries
// of a job last longer than an outage of two minutes.
const (
	DefaultBase   = time.Second
	DefaultCap    = 300 * time.Second
	DefaultFactor = 2.0
	// DefaultJitter is also the default of [Constant], and the jitter on a
	// delay that an error asks for, such as that of a Retry-After header.
	DefaultJitter = 0.20
	// DefaultMaxAttempts is also the default of [Constant].
	DefaultMaxAttempts = 8
)

// Exponential is a profile whose delay grows by a factor with every failure, up
// to a cap. The zero value works. A value is safe for concurrent use.
type Exponential struct {
	// Base is the delay after the first failure, at least 1 s; 0 means
	// [DefaultBase].
	Base time.Duration
	// Cap is the maximum delay before additive jitter, at least Base; 0 means
	// [DefaultCap].
	Cap time.Duration
	// Factor multiplies the delay with every failure, at least 1; 0 means
	// [DefaultFactor].
	Factor float64
	// Jitter is the largest part of the delay that additive jitter adds, above
	// 0 and at most 1; 0 means [DefaultJitter]. Jitter cannot be switched off:
	// jobs that fail together would be retried together.
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds do not use Jitter.
	JitterKind JitterKind
	// MaxAttempts is the maximum number of runs of a job, the first included, 1
	// to 1,000; 0 means [DefaultMaxAttempts].
	MaxAttempts int
}

// Delay returns the delay after failure number attempt, counted from 1; numbers
// below 1 count as 1. It is drawn from a range around min(Cap,
// Base·Factor^(n−1)), where n is attempt, as JitterKind says, to the
// nanosecond.
func (e Exponential) Delay(attempt int, random func() float64) time.Duration {
	e = e.withDefaults()
	d := e.Cap
	// Compare floats: the product can be too large for a time.Duration.
	if grown := float64(e.Base) * math.Pow(e.Factor, float64(max(attempt, 1)-1)); grown < float64(e.Cap) {
		d = time.Duration(grown)
	}
	return e.jitter().draw(d, random)
}

// Attempts returns the maximum number of runs of a job, the first included.
func (e Exponential) Attempts() int { return e.withDefaults().MaxAttempts }

func (e Exponential) jitter() jitter { return newJitter(e.JitterKind, e.Jitter, DefaultJitter) }

func (e Exponential) withDefaults() Exponential {
	e.Base = cmp.Or(e.Base, DefaultBase)
	e.Cap = cmp.Or(e.Cap, DefaultCap)
	e.Factor = cmp.Or(e.Factor, DefaultFactor)
	e.MaxAttempts = cmp.Or(e.MaxAttempts, DefaultMaxAttempts)
	return e
}
