package backoff

import (
	"math"
	"time"
)

// Spread adds a random part of d to it, at most the given share (0.20 for 20 %):
// d·(1 + share·random()). It never shortens d, and saturates at the longest
// duration. A d or a share of 0 or less adds nothing.
func Spread(d time.Duration, share float64, random func() float64) time.Duration {
	if d <= 0 || !(share > 0) {
		return max(d, 0)
	}
	extra := float64(d) * share * random()
	// Negated, so that a NaN, of an infinite share and a random 0, is caught too.
	if !(extra < float64(math.MaxInt64-d)) {
		return math.MaxInt64
	}
	return d + time.Duration(extra)
}

// WholeSeconds rounds d by chance: down, or up with the probability of the
// fraction, so that the mean over many messages is d. The result is never below
// the whole seconds of d; a negative d gives 0.
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
