package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

func TestClampLimitsToWhatSQSAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		d, sinceReceive time.Duration
		want            time.Duration
	}{
		{"within", time.Minute, time.Second, time.Minute},
		{"fraction within", 1500 * time.Millisecond, 0, 1500 * time.Millisecond},
		{"negative", -time.Second, 0, 0},
		{"too long", 24 * time.Hour, 0, 43_195 * time.Second},
		{"counted from the receive", 24 * time.Hour, time.Minute, 43_135 * time.Second},
		{"whole at the limit", 24 * time.Hour, 1500 * time.Millisecond, 43_193 * time.Second},
		{"no time left", time.Minute, 12 * time.Hour, 0},
		{"received longer ago than the limit", time.Minute, math.MaxInt64, 0},
		{"receive in the future", 24 * time.Hour, -time.Hour, 43_195 * time.Second},
	}
	for _, tt := range tests {
		if got := backoff.Clamp(tt.d, tt.sinceReceive); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
