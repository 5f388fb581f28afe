package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
)

func TestSteppedUsesItsStepsInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		profile  backoff.Stepped
		seconds  []float64
		attempts int
	}{
		{"defaults", backoff.Stepped{}, []float64{60, 300, 900, 900, 900}, 4},
		{"no steps are the defaults", backoff.Stepped{Steps: []time.Duration{}}, []float64{60, 300}, 4},
		{
			"own steps",
			backoff.Stepped{Steps: []time.Duration{time.Second, 1500 * time.Millisecond}},
			[]float64{1, 1.5, 1.5, 1.5}, 3,
		},
		{"attempts", backoff.Stepped{MaxAttempts: 10}, []float64{60, 300, 900, 900}, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []float64
			for i := range tt.seconds {
				got = append(got, tt.profile.Delay(i+1, always(0)).Seconds())
			}
			if diff := cmp.Diff(tt.seconds, got); diff != "" {
				t.Errorf("seconds (-want +got):\n%s", diff)
			}
			if got := tt.profile.Attempts(); got != tt.attempts {
				t.Errorf("%d attempts, want %d", got, tt.attempts)
			}
		})
	}
}

func TestConstantDelayDoesNotGrow(t *testing.T) {
	t.Parallel()
	c := backoff.Constant{Interval: 90 * time.Second}
	for _, attempt := range []int{math.MinInt, 0, 1, 2, 1_000, math.MaxInt} {
		if got := c.Delay(attempt, always(0)); got != 90*time.Second {
			t.Errorf("attempt %d: %v, want 1m30s", attempt, got)
		}
	}
	if got := c.Attempts(); got != 8 {
		t.Errorf("default: %d attempts, want 8", got)
	}
	c.MaxAttempts = 3
	if got := c.Attempts(); got != 3 {
		t.Errorf("set: %d attempts, want 3", got)
	}
}

func TestSteppedBoundsAnyAttemptNumber(t *testing.T) {
	t.Parallel()
	var s backoff.Stepped
	for attempt, want := range map[int]time.Duration{
		math.MinInt: time.Minute, -1: time.Minute, 0: time.Minute,
		1_000: 15 * time.Minute, math.MaxInt: 15 * time.Minute,
	} {
		if got := s.Delay(attempt, always(0)); got != want {
			t.Errorf("attempt %d: %v, want %v", attempt, got, want)
		}
	}
}

func TestExponentialAttempts(t *testing.T) {
	t.Parallel()
	if got := (backoff.Exponential{}).Attempts(); got != 8 {
		t.Errorf("default: %d, want 8", got)
	}
	if got := (backoff.Exponential{MaxAttempts: 3}).Attempts(); got != 3 {
		t.Errorf("set: %d, want 3", got)
	}
}

// This also holds for a profile that Validate refuses and a program uses all
// the same.
func TestNothingIsRetriedAtOnce(t *testing.T) {
	t.Parallel()
	for _, profile := range []backoff.Profile{
		backoff.Constant{},
		backoff.Constant{Interval: -time.Minute, JitterKind: backoff.Full},
		backoff.Constant{Interval: time.Second, JitterKind: backoff.Equal},
		backoff.Exponential{Base: time.Nanosecond},
		backoff.Exponential{Base: -time.Hour, Cap: -time.Hour, Factor: -2, Jitter: -1},
		backoff.Exponential{Jitter: math.NaN(), Factor: math.NaN()},
		backoff.Stepped{Steps: []time.Duration{0}, JitterKind: backoff.Equal},
		backoff.Stepped{Steps: []time.Duration{-1}, JitterKind: 77},
	} {
		for _, u := range []float64{0, 0.5, almostOne} {
			for attempt := range 5 {
				if got := profile.Delay(attempt, always(u)); got < time.Second {
					t.Errorf("%#v: attempt %d waits %v, want a second or more", profile, attempt, got)
				}
			}
		}
	}
}

func TestNamedReturnsTheProfile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		jitter   float64
		attempts int
		want     backoff.Profile
	}{
		{"exponential", 0, 0, backoff.Exponential{}},
		{"exponential", 1, 12, backoff.Exponential{Jitter: 1, MaxAttempts: 12}},
		{"stepped", 0, 0, backoff.Stepped{}},
		{"stepped", 0.2, 6, backoff.Stepped{Jitter: 0.2, MaxAttempts: 6}},
	}
	for _, tt := range tests {
		got, err := backoff.Named(tt.name, tt.jitter, tt.attempts)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestNamedRefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	const unknown = ": there is none of this name; set exponential or stepped"
	tests := []struct {
		name     string
		jitter   float64
		attempts int
		want     string
	}{
		{"linear", 0, 0, `backoff: profile is "linear"` + unknown},
		{"", 0, 0, `backoff: profile is ""` + unknown},
		{"Stepped", 0, 0, `backoff: profile is "Stepped"` + unknown},
		{
			"stepped", 20, 0,
			"backoff: Jitter is 20: it is a share above 0 and at most 1; set 0.1 to 0.2, or up to 1 for an even spread",
		},
		{"exponential", 0, -1, "backoff: MaxAttempts is -1: a job runs at least once; set 1 or more"},
	}
	for _, tt := range tests {
		profile, err := backoff.Named(tt.name, tt.jitter, tt.attempts)
		if profile != nil || err == nil || err.Error() != tt.want {
			t.Errorf("Named(%q, %v, %d) = %v, %v, want the error %s",
				tt.name, tt.jitter, tt.attempts, profile, err, tt.want)
		}
	}
}
