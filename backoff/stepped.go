package backoff

import (
	"cmp"
	"time"
)

// DefaultSteppedJitter stands for a zero Jitter of [Stepped]: six seconds on the
// first default step, and a minute and a half on the last.
const DefaultSteppedJitter = 0.10

// Stepped is a delay that is read from a list, whose last step repeats. The zero
// value is ready to use: it waits for 1, 5 and 15 minutes. A value is safe for
// concurrent use as long as nothing changes its Steps.
type Stepped struct {
	// Steps are the delays after the first, second and later failures, each at
	// least 1 s and none shorter than the one before. Empty means 60, 300 and
	// 900 s.
	Steps []time.Duration
	// Jitter is the share of the delay that additive jitter adds at most, above 0
	// and at most 1; 0 means [DefaultSteppedJitter].
	Jitter float64
	// JitterKind is the range that delays are drawn from. The zero value is
	// [Additive]; the other kinds have no use for a Jitter.
	JitterKind JitterKind
	// MaxAttempts is how many runs a job gets, the first included, 1 to 1,000; 0
	// means one more than there are steps, which are four runs by default.
	MaxAttempts int
}

// Delay is the wait after the failure with this number, counted from 1; numbers
// below that count as 1. It is drawn from a range around the step as JitterKind
// says, to the nanosecond.
func (s Stepped) Delay(attempt int, random func() float64) time.Duration {
	steps := s.steps()
	step := steps[min(max(attempt, 1), len(steps))-1]
	return s.jitter().draw(step, random)
}

// Attempts is how many runs a job gets, the first included.
func (s Stepped) Attempts() int { return cmp.Or(s.MaxAttempts, len(s.steps())+1) }

func (s Stepped) jitter() jitter { return newJitter(s.JitterKind, s.Jitter, DefaultSteppedJitter) }

func (s Stepped) steps() []time.Duration {
	if len(s.Steps) == 0 {
		return defaultSteps[:]
	}
	return s.Steps
}

var defaultSteps = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}
