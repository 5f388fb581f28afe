package backoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		d     time.Duration
		share float64
		u     float64
		want  time.Duration
	}{
		{"adds a random part", time.Minute, 0.10, 0.5, 63 * time.Second},
		{"never shortens", time.Minute, 0.10, 0, time.Minute},
		{"no share", time.Minute, 0, 0.5, time.Minute},
		{"negative share", time.Minute, -1, 0.5, time.Minute},
		{"share that is no number", time.Minute, math.NaN(), 0.5, time.Minute},
		{"no delay", 0, 0.2, 0.5, 0},
		{"negative delay", -time.Minute, 0.2, 0.5, 0},
		{"infinite share", time.Minute, math.Inf(1), 0, math.MaxInt64},
		{"saturates", math.MaxInt64 - 1, 1, almostOne, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := backoff.Spread(tt.d, tt.share, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWholeSeconds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		d    time.Duration
		u    float64
		want time.Duration
	}{
		{"up within the fraction", 4200 * time.Millisecond, 0.19, 5 * time.Second},
		{"down above it", 4200 * time.Millisecond, 0.2, 4 * time.Second},
		{"whole seconds are kept", 4 * time.Second, 0, 4 * time.Second},
		{"below a second", 300 * time.Millisecond, 0.3, 0},
		{"nothing", 0, 0, 0},
		{"negative", -time.Millisecond, 0, 0},
		{"negative by seconds", -1500 * time.Millisecond, 0, 0},
		{"most negative", math.MinInt64, almostOne, 0},
		{"longest", math.MaxInt64, 0, time.Duration(math.MaxInt64).Truncate(time.Second)},
	}
	for _, tt := range tests {
		if got := backoff.WholeSeconds(tt.d, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRoundingKeepsTheMean(t *testing.T) {
	t.Parallel()
	const n = 200_000
	random := rand.New(rand.NewPCG(1, 2)).Float64
	for _, d := range []time.Duration{
		1200 * time.Millisecond, 4200 * time.Millisecond, 4700 * time.Millisecond, 63_210 * time.Millisecond,
	} {
		var sum time.Duration
		for range n {
			sum += backoff.WholeSeconds(d, random)
		}
		if ratio := float64(sum) / n / float64(d); math.Abs(ratio-1) > 0.01 {
			t.Errorf("%v: the mean is %.4f of it, want 1 ± 0.01", d, ratio)
		}
	}
}
