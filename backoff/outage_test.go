package backoff_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
)

// dependency reports whether the calls of one second succeed.
type dependency func(second, calls int) bool

// backAfter is down from the beginning for the given number of seconds.
func backAfter(seconds int) dependency {
	return func(second, _ int) bool { return second >= seconds }
}

// fragile is down in the first second. When it gets more than most calls in one
// second, it is down again for ten seconds.
func fragile(most int) dependency {
	back := 1
	return func(second, calls int) bool {
		if second >= back && calls > most {
			back = second + 10
		}
		return second >= back
	}
}

// outcome counts what happened to jobs that all began in second 0.
type outcome struct {
	Failed   int // calls
	Done     int // jobs that succeeded, which is the number of calls that succeeded
	Dead     int // jobs
	Attempts int // maximum over all jobs
}

// simulate runs jobs against a dependency, with a clock that counts seconds. It
// also returns the second in which the last job was done or dead.
func simulate(jobs int, profile backoff.Profile, up dependency, random func() float64) (o outcome, last int) {
	due := map[int][]int{0: make([]int, jobs)} // by second: for each job that calls in it, its number of failures so far
	for ; o.Done+o.Dead < jobs; last++ {
		calls := due[last]
		delete(due, last)
		ok := len(calls) > 0 && up(last, len(calls))
		for _, failures := range calls {
			o.Attempts = max(o.Attempts, failures+1)
			if ok {
				o.Done++
				continue
			}
			o.Failed++
			failures++
			if failures == profile.Attempts() {
				o.Dead++
				continue
			}
			back := last + wholeDelay(profile, failures, random)
			due[back] = append(due[back], failures)
		}
	}
	return o, last - 1
}

// wholeDelay returns a delay in whole seconds, as SQS counts them.
func wholeDelay(profile backoff.Profile, attempt int, random func() float64) int {
	return int(backoff.WholeSeconds(profile.Delay(attempt, random), random) / time.Second)
}

func seeded(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 0)).Float64 }

// naive retries at equal intervals without jitter, as simple retry loops do.
type naive struct {
	interval time.Duration
	attempts int
}

func (n naive) Delay(int, func() float64) time.Duration { return n.interval }
func (n naive) Attempts() int                           { return n.attempts }
func (naive) Validate() error                           { return nil }

// The numbers are exact for any random source: jitter only adds to a
// delay, and never so much that a job makes one attempt less in the outage.
func TestJobsOutlastAnOutage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Profile
		jobs    int
		outage  int // seconds
		want    outcome
		within  int // seconds after the recovery
	}{
		{"every second", naive{time.Second, 1_000}, 50, 120, outcome{Failed: 6_000, Attempts: 121}, 0},
		{"every other second", naive{2 * time.Second, 1_000}, 50, 120, outcome{Failed: 3_000, Attempts: 61}, 0},
		{"exponential", backoff.Exponential{}, 50, 120, outcome{Failed: 350, Attempts: 8}, 360},
		{"exponential, a thousand", backoff.Exponential{}, 1_000, 120, outcome{Failed: 7_000, Attempts: 8}, 360},
		{"exponential, thousands", backoff.Exponential{}, 5_000, 120, outcome{Failed: 35_000, Attempts: 8}, 360},
		{"exponential, half a minute", backoff.Exponential{}, 50, 30, outcome{Failed: 250, Attempts: 6}, 8},
		{"stepped", backoff.Stepped{}, 50, 120, outcome{Failed: 100, Attempts: 3}, 300},
		{"stepped, twenty minutes", backoff.Stepped{}, 50, 1_200, outcome{Failed: 150, Attempts: 4}, 190},
		{"constant", backoff.Constant{Interval: time.Minute}, 50, 110, outcome{Failed: 100, Attempts: 3}, 36},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Done = tt.jobs
			for seed := range uint64(20) {
				got, last := simulate(tt.jobs, tt.profile, backAfter(tt.outage), seeded(seed))
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
				}
				if last > tt.outage+tt.within {
					t.Fatalf("seed %d: the last is done in second %d, want %d or earlier",
						seed, last, tt.outage+tt.within)
				}
			}
		})
	}
}

func TestWideJitterOutlastsAnOutageWithFewerCalls(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		got, last := simulate(50, backoff.Exponential{Jitter: 1}, backAfter(120), seeded(seed))
		if got.Failed > 350 || got.Dead > 0 || last > 120+600 {
			t.Errorf("seed %d: %+v, the last in second %d", seed, got, last)
		}
	}
}

func TestJobsAreDeadAfterMaxAttempts(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]backoff.Profile{
		"exponential": backoff.Exponential{MaxAttempts: 3},
		"stepped":     backoff.Stepped{MaxAttempts: 3},
		"constant":    backoff.Constant{Interval: time.Second, MaxAttempts: 3},
	} {
		got, _ := simulate(50, profile, backAfter(1<<30), seeded(1))
		if want := (outcome{Failed: 150, Dead: 50, Attempts: 3}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A dependency that can serve a quarter of the jobs in one second recovers from
// them only if their retries are spread out.
func TestFragileDependencyRecoversOnlyWithJitter(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1_000, 5_000} {
		together, _ := simulate(jobs, naive{time.Minute, 4}, fragile(jobs/4), seeded(1))
		if want := (outcome{Failed: 4 * jobs, Dead: jobs, Attempts: 4}); together != want {
			t.Errorf("%d jobs at equal intervals: %+v, want %+v", jobs, together, want)
		}
		for seed := range uint64(20) {
			apart, _ := simulate(jobs, backoff.Stepped{}, fragile(jobs/4), seeded(seed))
			if want := (outcome{Failed: jobs, Done: jobs, Attempts: 2}); apart != want {
				t.Errorf("%d jobs with jitter, seed %d: %+v, want %+v", jobs, seed, apart, want)
			}
		}
	}
}
