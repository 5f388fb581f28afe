package backoff_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

// herd is the number of jobs retried in each second after the one in which all
// failed.
type herd []int

func (h *herd) add(second, jobs int) {
	if missing := second + 1 - len(*h); missing > 0 {
		*h = append(*h, make(herd, missing)...)
	}
	(*h)[second] += jobs
}

func (h *herd) peak() int { return slices.Max(*h) }

// comeBack fails all jobs together for the attempt-th time and counts their
// retries.
func comeBack(jobs int, profile backoff.Profile, attempt int, random func() float64) herd {
	var h herd
	for range jobs {
		h.add(wholeDelay(profile, attempt, random), 1)
	}
	return h
}

// untilDead fails all jobs together, then every retry, until the jobs have no
// attempts left.
func untilDead(jobs int, profile backoff.Profile, random func() float64) herd {
	var h herd
	simulate(jobs, profile, func(second, calls int) bool {
		h.add(second, calls)
		return false
	}, random)
	return h
}

// Jobs that fail in the same second must not be retried in the same second.
func TestJobsThatFailTogetherComeBackApart(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1_000, 5_000} {
		for seed := range uint64(20) {
			h := comeBack(jobs, backoff.Stepped{}, 1, seeded(seed))
			seconds := 0
			for _, n := range h {
				seconds += min(n, 1)
			}
			if seconds < 6 || h.peak() > jobs/4 {
				t.Errorf("%d jobs, seed %d: in %d seconds, %d in the busiest; want 6 or more, and a quarter at most",
					jobs, seed, seconds, h.peak())
			}
		}
	}
}

// Rounding to whole seconds cancels the jitter of short delays.
func TestRoundingConcentratesShortDelays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Profile
		percent float64
	}{
		{"1 s with 20 %", backoff.Constant{Interval: time.Second}, 91},
		{"4 s with 20 %", backoff.Constant{Interval: 4 * time.Second}, 58},
		{"60 s with 10 %", backoff.Stepped{}, 20},
		{"1 s with 100 %", backoff.Constant{Interval: time.Second, Jitter: 1}, 51},
	}
	for _, tt := range tests {
		var percents []float64
		for seed := range uint64(101) {
			h := comeBack(1_000, tt.profile, 1, seeded(seed))
			percents = append(percents, float64(h.peak())/10)
		}
		if got := median(percents); math.Abs(got-tt.percent) > 2.5 {
			t.Errorf("%s: %.1f %%, want %v ± 2.5", tt.name, got, tt.percent)
		}
	}
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

const (
	herdSize = 10_000
	retries  = 10 // delays of 1 to 512 s
)

// spread describes how a herd is retried after each failure, by retry number.
// The peaks are those of the busiest second, as multiples of an even spread
// over the delay.
type spread struct {
	together [retries]float64 // peak, if all fail in the same second
	history  [retries]float64 // peak, if delays add up from the first failure on
	mean     [retries]float64 // mean delay, as a multiple of the exact delay
	early    int              // delays shorter than the exact one
}

func measure(profile backoff.Profile) spread {
	const runs = 7 // the number of peaks that each median is taken from
	var (
		s                 spread
		together, history [retries][]float64
	)
	for seed := range uint64(runs) {
		random := seeded(seed)
		at := make([]int, herdSize)
		for i := range retries {
			exact := 1 << i
			var one, sum herd
			for job := range at {
				d := wholeDelay(profile, i+1, random)
				at[job] += d
				one.add(d, 1)
				sum.add(at[job], 1)
				s.mean[i] += float64(d) / float64(exact*herdSize*runs)
				if d < exact {
					s.early++
				}
			}
			even := herdSize / float64(exact)
			together[i] = append(together[i], float64(one.peak())/even)
			history[i] = append(history[i], float64(sum.peak())/even)
		}
	}
	for i := range retries {
		s.together[i], s.history[i] = median(together[i]), median(history[i])
	}
	return s
}

// doubling returns an exponential profile whose cap is too high to matter here.
func doubling(share float64, kind backoff.JitterKind) backoff.Exponential {
	return backoff.Exponential{Cap: time.Hour, Jitter: share, JitterKind: kind}
}

// way is a jitter setting that the documentation compares.
type way struct {
	name    string
	profile backoff.Profile
	spread  spread
}

var ways = sync.OnceValue(func() []way {
	var ws []way
	for _, w := range []struct {
		name  string
		share float64
		kind  backoff.JitterKind
	}{
		{"`Jitter: 0.20`, the default", 0.20, backoff.Additive},
		{"`Jitter: 0.50`", 0.50, backoff.Additive},
		{"`Jitter: 1`", 1, backoff.Additive},
		{"`JitterKind: Equal`", 0, backoff.Equal},
		{"`JitterKind: Full`", 0, backoff.Full},
	} {
		p := doubling(w.share, w.kind)
		ws = append(ws, way{w.name, p, measure(p)})
	}
	return ws
})

func TestPeakOfEachJitterAsMeasured(t *testing.T) {
	t.Parallel()
	want := map[string][retries]float64{
		"`Jitter: 0.20`, the default": {0.90, 1.60, 2.40, 4.60, 5.03, 5.17, 5.31, 5.54, 5.81, 6.30},
		"`Jitter: 0.50`":              {0.75, 1.01, 2.00, 2.03, 2.08, 2.12, 2.24, 2.38, 2.64, 2.97},
		"`Jitter: 1`":                 {0.50, 1.00, 1.02, 1.04, 1.07, 1.12, 1.20, 1.29, 1.51, 1.69},
		"`JitterKind: Equal`":         {1.00, 1.01, 1.99, 2.03, 2.07, 2.13, 2.21, 2.41, 2.56, 2.87},
		"`JitterKind: Full`":          {1.00, 1.01, 1.33, 1.17, 1.13, 1.15, 1.20, 1.29, 1.49, 1.75},
	}
	for _, w := range ways() {
		for i, got := range w.spread.together {
			if ratio := got / want[w.name][i]; math.Abs(ratio-1) > 0.07 {
				t.Errorf("%s: after %d s the peak is %.2f, want %.2f ± 7 %%", w.name, 1<<i, got, want[w.name][i])
			}
		}
	}
}

// A Jitter of 1 is never early, and is as even as random delays can be.
func TestWideJitterIsEven(t *testing.T) {
	t.Parallel()
	s := ways()[2].spread
	if s.early > 0 {
		t.Errorf("%d delays are shorter than the exact one", s.early)
	}
	for i := range retries {
		most := 1.25
		switch {
		case i == 0:
			most = 0.55
		case i > 6:
			most = 1.8
		}
		if s.together[i] > most || s.history[i] > most && i > 0 {
			t.Errorf("after %d s the peak is %.2f, %.2f with all delays before it; want %.2f at most",
				1<<i, s.together[i], s.history[i], most)
		}
		if math.Abs(s.mean[i]/1.5-1) > 0.01 {
			t.Errorf("after %d s the mean is %.3f of the delay, want 1.5 ± 1 %%", 1<<i, s.mean[i])
		}
	}
}

// steppedWays are the settings of Stepped that the documentation compares.
var steppedWays = []struct {
	name    string
	profile backoff.Stepped
}{
	{"`Stepped{}`, the default: 0.10", backoff.Stepped{}},
	{"`Stepped{Jitter: 0.5}`", backoff.Stepped{Jitter: 0.5}},
	{"`Stepped{Jitter: 1}`", backoff.Stepped{Jitter: 1}},
}

// steppedHerd is the number of jobs that fail together; the even spread of them over the
// longest step is one a second.
const steppedHerd = 1_000

var defaultSteps = []int{60, 300, 900}

// steppedPeak is the number of jobs in the busiest second after a step, the median of
// fifteen runs, and that as a multiple of an even spread over the step.
func steppedPeak(profile backoff.Profile, step int) (jobs int, ratio float64) {
	var peaks []float64
	for seed := range uint64(15) {
		h := comeBack(steppedHerd, profile, step+1, seeded(seed))
		peaks = append(peaks, float64(h.peak()))
	}
	peak := median(peaks)
	return int(peak), peak * float64(defaultSteps[step]) / steppedHerd
}

// The range of the default is a tenth of the step, so its peak is ten times the even spread
// or more. That of the whole step is as even as random delays can be: six jobs in one
// second of 900 are chance.
func TestPeakOfSteppedAsMeasured(t *testing.T) {
	t.Parallel()
	for i, want := range [][3]float64{{10.9, 13.2, 18.0}, {2.8, 4.2, 6.3}, {1.6, 3.0, 5.4}} {
		for step := range defaultSteps {
			jobs, got := steppedPeak(steppedWays[i].profile, step)
			if math.Abs(got/want[step]-1) > 0.2 {
				t.Errorf("%s: after %d s the peak is %.1f (%d jobs), want %.1f ± 20 %%",
					steppedWays[i].name, defaultSteps[step], got, jobs, want[step])
			}
		}
	}
}

// Rounding to whole seconds keeps the mean of every range.
func TestRoundingKeepsTheMeanOfEachRange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		way  int
		mean func(seconds float64) float64
	}{
		{0, func(d float64) float64 { return 1.1 * d }},
		{1, func(d float64) float64 { return 1.25 * d }},
		{3, func(d float64) float64 { return (max(d/2, 1) + d) / 2 }},
		{4, func(d float64) float64 { return (1 + d) / 2 }},
	}
	for _, tt := range tests {
		w := ways()[tt.way]
		for i, got := range w.spread.mean {
			d := float64(int(1) << i)
			if want := tt.mean(d) / d; math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s: after %v s the mean is %.3f of the delay, want %.3f ± 1 %%", w.name, d, got, want)
			}
		}
	}
}
