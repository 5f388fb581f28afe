package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// draws gives the numbers over and over.
func draws(numbers ...float64) func() float64 {
	n := 0
	return func() float64 {
		n++
		return numbers[(n-1)%len(numbers)]
	}
}

func TestDelaysWithoutTheStoreAreOfTheProcessorsChance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		receives int
		random   []float64
		want     time.Duration
	}{
		{1, []float64{0.5, 0.5}, time.Second}, // 1.1 s, rounded up by less than 0.1
		{1, []float64{0.5, 0.05}, 2 * time.Second},
		{5, []float64{0.5, 0.5}, 18 * time.Second},  // 17.6 s
		{5, []float64{0.75, 0.5}, 18 * time.Second}, // 18.4 s
	} {
		scenario(t, func(h *harness) {
			h.broken(idemtest.CallAcquire)
			i := h.invoke(1)
			i.Random = draws(tt.random...)
			i.batch(received("m1", "a", tt.receives))
			if got := i.result("m1").Delay; got != tt.want {
				t.Errorf("receive %d, random %v: delay %v, want %v", tt.receives, tt.random, got, tt.want)
			}
		})
	}
}

func TestTheRestOfALeaseIsNeverCutShort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		random []float64
		want   time.Duration
	}{
		{[]float64{0, 0.99}, 31300 * time.Millisecond}, // rounded down it would end before the lease
		{[]float64{0, 0.1}, 32 * time.Second},
		{[]float64{0.5, 0.99}, 34 * time.Second}, // 34.43 s
		{[]float64{0.5, 0.1}, 35 * time.Second},
	} {
		scenario(t, func(h *harness) {
			h.job = func(context.Context, *handler.Message) error {
				pass(700 * time.Millisecond)
				copied := h.invoke(1)
				copied.Random = draws(tt.random...)
				copied.job = func(context.Context, *handler.Message) error { return nil }
				copied.batch(message("m1", "a"))
				if got := copied.ended("m1", handler.OutcomeBusy, idem.ReasonClaimed).Delay; got != tt.want {
					t.Errorf("random %v: delay %v, want %v", tt.random, got, tt.want)
				}
				return nil
			}
			h.invoke(1).batch(message("m1", "a"))
		})
	}
}
