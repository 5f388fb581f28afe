package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Who has waited longest for a slot is next, and what has gone away holds up nobody.
func TestSlotsAreGivenInTheOrderOfTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 3)
		if n := s.take(t.Context()); n != 3 {
			t.Fatalf("%d slots, want 3", n)
		}
		gone, leave := context.WithCancel(t.Context())
		got := make(chan int)
		for i := range 4 {
			ctx := t.Context()
			if i == 1 {
				ctx = gone
			}
			go func() {
				if s.take(ctx) > 0 {
					got <- i
				}
			}()
			synctest.Wait()
		}
		leave()
		for _, want := range []int{0, 2, 3} {
			synctest.Wait()
			s.release(3, 1)
			if next := <-got; next != want {
				t.Errorf("loop %d is next, want %d", next, want)
			}
		}
	})
}

// Slots that are given at the moment when the wait ends are not lost.
func TestSlotsAreNotLostAtTheEnd(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(1, 2)
			s.take(t.Context())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			time.AfterFunc(time.Second, func() { s.release(2, 1) })
			if n := s.take(ctx); n > 0 {
				s.release(n, 1)
			}
			synctest.Wait()
			if s.taken != 0 || s.receives != 0 || len(s.waiting) != 0 {
				t.Errorf("%d slots taken, %d receives, %d wait", s.taken, s.receives, len(s.waiting))
			}
		})
	}
}
