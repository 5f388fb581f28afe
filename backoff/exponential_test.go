package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
)

func always(u float64) func() float64 { return func() float64 { return u } }

var almostOne = math.Nextafter(1, 0)

func TestExponentialGrowsToItsCap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Exponential
		seconds []float64
	}{
		{"defaults", backoff.Exponential{}, []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}},
		{"base", backoff.Exponential{Base: 3 * time.Second}, []float64{3, 6, 12, 24}},
		{"cap", backoff.Exponential{Cap: 5 * time.Second}, []float64{1, 2, 4, 5, 5}},
		{"factor", backoff.Exponential{Factor: 1.5}, []float64{1, 1.5, 2.25, 3.375}},
		{"constant", backoff.Exponential{Factor: 1}, []float64{1, 1, 1}},
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
		})
	}
}

func TestExponentialBoundsAnyAttemptNumber(t *testing.T) {
	t.Parallel()
	var e backoff.Exponential
	for _, attempt := range []int{math.MinInt, -1, 0} {
		if got := e.Delay(attempt, always(0)); got != time.Second {
			t.Errorf("attempt %d: %v, want that of the first", attempt, got)
		}
	}
	for _, attempt := range []int{1_000, 1_000_000, math.MaxInt} {
		if got := e.Delay(attempt, always(0)); got != 300*time.Second {
			t.Errorf("attempt %d: %v, want the cap", attempt, got)
		}
	}
}
