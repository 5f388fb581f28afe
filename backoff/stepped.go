package backoff

import (
	"cmp"
	"time"
)

// DefaultSteppedJitter is the default for a zero Jitter of [Stepped]: at most
// six seconds on the first default step, and 90 seconds on the last.
const DefaultSteppedJitter = 0.10

// Stepped is a profile that reads its delays from a list and repeats the last
// one. The zero value works: it waits for 1, 5 and 15 minutes. A
// value is safe for concurrent use as long as nothing changes its Steps.
type Stepped struct {
	// Steps are the delays after the first, second and later failures, each at
	// least 1 s and none shorter than the one before. Empty means 60, 300 and
	// 900 s.
	Steps []time.Duration
	// Jitter is the largest part of the delay that additive jitter adds, above
	// 0 and at most 1; 0 means [DefaultSteppedJitter].
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds do not use Jitter.
	JitterKind JitterKind
	// MaxAttempts is the maximum number of runs of a job, the first included, 1
	// to 1,000; 0 means the number of steps plus one, which is four by default.
	MaxAttempts int
}

// Delay returns the delay after failure number attempt, counted from 1; numbers
// below 1 count as 1. It is drawn from a range around the step, as JitterKind
// says, to the nanosecond.
func (s Stepped) Delay(attempt int, random func() float64) time.Duration {
	steps := s.steps()
	step := steps[min(max(attempt, 1), len(steps))-1]
	return s.jitter().draw(step, random)
}

// Attempts returns the maximum number of runs of a job, the first included.
func (s Stepped) Attempts() int { return cmp.Or(s.MaxAttempts, len(s.steps())+1) }

func (s Stepped) jitter() jitter { return newJitter(s.JitterKind, s.Jitter, DefaultSteppedJitter) }

func (s Stepped) steps() []time.Duration {
	if len(s.Steps) == 0 {
		return defaultSteps[:]
	}
	return s.Steps
}

var defaultSteps = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}
