package backoff

import (
	"math"
	"time"
)

// Spread adds a random part of d to it, at most the given share (0.20 for 20
// %): d·(1 + share·random()). It never shortens d. A result that is too long
// for a time.Duration becomes the longest one. A d or a share of 0 or less adds
// nothing.
func Spread(d time.Duration, share float64, random func() float64) time.Duration {
	if d <= 0 || !(share > 0) {
		return max(d, 0)
	}
	extra := float64(d) * share * random()
	// Negated, so that NaN is caught too: an infinite share times a random 0.
	if !(extra < float64(math.MaxInt64-d)) {
		return math.MaxInt64
	}
	return d + time.Duration(extra)
}

// WholeSeconds rounds d at random to whole seconds: up with the probability of
// the fraction, otherwise down, so that the mean over many messages is d. The
// result is never below the whole seconds of d. A negative d returns 0.
func WholeSeconds(d time.Duration, random func() float64) time.Duration {
	if d <= 0 {
		return 0
	}
	floor := d.Truncate(time.Second)
	fraction := d - floor
	if floor <= math.MaxInt64-time.Second && random() < fraction.Seconds() {
		return floor + time.Second
	}
	return floor
}
