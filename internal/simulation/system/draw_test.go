package system

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// seed decides everything that is left to chance in a history. Each draw has a name of
// its own, so that what is drawn does not depend on the order of draws, and a history
// keeps its draws when a part of it is left out.
type seed uint64

// at is the source of the draws with a name.
func (s seed) at(format string, args ...any) *rand.Rand {
	h := s.hash(fmt.Sprintf(format, args...))
	return rand.New(rand.NewPCG(uint64(s), h))
}

// hash is FNV-1a with a finish that spreads short texts.
func (s seed) hash(text string) uint64 {
	h := uint64(14695981039346656037) ^ uint64(s)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// chance reports true with the probability p.
func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// pick is one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// between is a duration from least to most, to the nanosecond, so that no two events
// of a history fall on the same moment. Short ones are as likely as long ones.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	low, high := math.Log(float64(least)), math.Log(float64(most))
	return time.Duration(math.Exp(low + r.Float64()*(high-low)))
}

// evenly is a duration from least to most, each as likely.
func evenly(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}
