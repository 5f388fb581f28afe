package backoff

import (
	"cmp"
	"math"
	"time"
)

// The values that stand for zero fields of [Exponential]. With them seven
// retries outlast an outage of two minutes.
const (
	DefaultBase   = time.Second
	DefaultCap    = 300 * time.Second
	DefaultFactor = 2.0
	// DefaultJitter is also that of [Constant], and the spread on a delay that an
	// error names, such as that of a Retry-After.
	DefaultJitter = 0.20
	// DefaultMaxAttempts is also that of [Constant].
	DefaultMaxAttempts = 8
)

// Exponential is a delay that grows by a factor with every failure, up to a cap.
// The zero value is ready to use, and a value is safe for concurrent use.
type Exponential struct {
	// Base is the delay after the first failure, at least 1 s; 0 means
	// [DefaultBase].
	Base time.Duration
	// Cap bounds the delay before additive jitter, at least Base; 0 means
	// [DefaultCap].
	Cap time.Duration
	// Factor multiplies the delay with every failure, at least 1; 0 means
	// [DefaultFactor].
	Factor float64
	// Jitter is the share of the delay that additive jitter adds at most, above 0
	// and at most 1; 0 means [DefaultJitter]. There is no way to do without: jobs
	// that fail together would come back together.
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds have no use for a Jitter.
	JitterKind JitterKind
	// MaxAttempts is how many runs a job gets, the first included, 1 to 1,000; 0
	// means [DefaultMaxAttempts].
	MaxAttempts int
}

// Delay is the wait after the failure with this number, counted from 1; numbers
// below that count as 1. It is drawn from a range around min(Cap,
// Base·Factor^(n−1)) as JitterKind says, to the nanosecond.
func (e Exponential) Delay(attempt int, random func() float64) time.Duration {
	e = e.withDefaults()
	d := e.Cap
	// Compared as a float, which can be too large for a duration.
	if grown := float64(e.Base) * math.Pow(e.Factor, float64(max(attempt, 1)-1)); grown < float64(e.Cap) {
		d = time.Duration(grown)
	}
	return e.jitter().draw(d, random)
}

// Attempts is how many runs a job gets, the first included.
func (e Exponential) Attempts() int { return e.withDefaults().MaxAttempts }

func (e Exponential) jitter() jitter { return newJitter(e.JitterKind, e.Jitter, DefaultJitter) }

func (e Exponential) withDefaults() Exponential {
	e.Base = cmp.Or(e.Base, DefaultBase)
	e.Cap = cmp.Or(e.Cap, DefaultCap)
	e.Factor = cmp.Or(e.Factor, DefaultFactor)
	e.MaxAttempts = cmp.Or(e.MaxAttempts, DefaultMaxAttempts)
	return e
}
