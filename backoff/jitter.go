package backoff

import (
	"fmt"
	"time"
)

// JitterKind says over which range chance spreads a delay d of a profile. Every
// kind draws evenly, and never less than a second, since a retry at once is a
// second attack.
type JitterKind uint8

const (
	// Additive draws from d to d·(1 + Jitter), so that nothing comes back before
	// its delay. A Jitter of 1 spreads as widely as the delay is long.
	Additive JitterKind = iota
	// Full draws from 1 s to d: a delay of 1 s stays as it is, longer ones are
	// about half as long on average, and some are very short.
	Full
	// Equal draws from d/2 to d, or from 1 s where that is longer.
	Equal
)

// String is the name of the kind, in lower case.
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

// shortest is the shortest delay there is.
const shortest = time.Second

// jitter is how a profile spreads its delays. The share is for Additive only.
type jitter struct {
	kind  JitterKind
	share float64
}

// newJitter gives the kind that needs a share the default for none.
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

// longest is the end of the range that d is drawn from.
func (j jitter) longest(d time.Duration) time.Duration {
	return j.draw(d, func() float64 { return 1 })
}

func between(low, high time.Duration, random func() float64) time.Duration {
	return low + time.Duration(float64(high-low)*random())
}
