package backoff

import (
	"fmt"
	"time"
)

// JitterKind is the range from which the delay is drawn, for an exact delay d
// of a profile. Every kind draws evenly, and never less than a second, so that
// no job is retried at once.
type JitterKind uint8

const (
	// Additive draws from d to d·(1 + Jitter): no retry comes before its exact
	// delay. A Jitter of 1 spreads retries over a range as long as the delay
	// itself.
	Additive JitterKind = iota
	// Full draws from 1 s to d: a delay of 1 s stays as it is, longer ones are
	// about half as long on average, and some are very short.
	Full
	// Equal draws from d/2 to d, or from 1 s to d where d/2 is below 1 s.
	Equal
)

// String returns the name of the kind, in lower case.
func (k JitterKind) String() string {
	switch k {
	case Additive:
		return "additive"
	case Full:
		return "full"
	case Equal:
		return "equal"
	default:
		return fmt.Sprintf("JitterKind(%d)", uint8(k))
	}
}

// shortest is the shortest delay of any profile.
const shortest = time.Second

// jitter is how a profile spreads its delays. The share is used by Additive
// only.
type jitter struct {
	kind  JitterKind
	share float64
}

// newJitter returns the jitter of a profile. A share of 0 becomes byDefault for
// Additive.
func newJitter(kind JitterKind, share, byDefault float64) jitter {
	if kind == Additive && share == 0 {
		share = byDefault
	}
	return jitter{kind, share}
}

func (j jitter) draw(d time.Duration, random func() float64) time.Duration {
	d = max(d, shortest)
	switch j.kind {
	case Full:
		return between(shortest, d, random)
	case Equal:
		return between(max(d/2, shortest), d, random)
	default:
		return Spread(d, j.share, random)
	}
}

// longest returns the longest delay that can be drawn for d.
func (j jitter) longest(d time.Duration) time.Duration {
	return j.draw(d, func() float64 { return 1 })
}

func between(low, high time.Duration, random func() float64) time.Duration {
	return low + time.Duration(float64(high-low)*random())
}
