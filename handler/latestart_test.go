package handler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// The cut that makes a job dead is that of a run which had three quarters of the time for
// jobs, here of 27 s. Any earlier one costs an attempt if it had half of it.
func TestTheLastAttemptIsNotLostByALateStart(t *testing.T) {
	t.Parallel()
	const half, most = 13500 * time.Millisecond, 20250 * time.Millisecond
	for _, tt := range []struct {
		attempts, unclassified int
		had                    time.Duration
		body                   string
		receives               int
		want                   string
	}{
		{6, 0, half, "1h", 9, "retry " + fault.ReasonDeadline},
		{7, 0, half - time.Second, "1h", 9, "deferred " + handler.ReasonNoTime},
		{7, 0, half, "1h", 9, "deferred " + handler.ReasonNoTime},
		{7, 0, most - time.Second, "1h", 9, "deferred " + handler.ReasonNoTime},
		{7, 0, most, "1h", 9, "dead " + handler.ReasonExhausted},
		{7, 0, 27 * time.Second, "1h", 9, "dead " + handler.ReasonExhausted},
		// What fails by itself had what it needed.
		{7, 0, half, "1s reset", 9, "dead " + handler.ReasonExhausted},
		{2, 2, half, "1s odd", 9, "dead " + fault.ReasonUnclassified},
		{7, 0, half, "1h", 30, "dead " + handler.ReasonMaxReceives},
	} {
		inBubble(t, fmt.Sprint(tt), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 30
			s.ledger.job = handler.Job{Key: "k", Attempts: tt.attempts, Unclassified: tt.unclassified}
			s.ledger.claimTime = 27*time.Second - tt.had
			s.run(t, received(tt.receives, record("m1", tt.body)))
			if got := s.outcomeOf(t, "m1", "outcome") + " " + s.outcomeOf(t, "m1", "reason"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Jobs that take long come behind new ones that do not, once they have failed, and so are
// started late each time. They are done in the end, and what never ends is dead.
func TestSlowJobsBehindShortOnesAreDone(t *testing.T) {
	t.Parallel()
	for _, each := range []time.Duration{300 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
		for _, hosts := range []int{1, 3} {
			inBubble(t, fmt.Sprint(each, hosts), func(t *testing.T) {
				f := &fleet{
					t: t, hosts: hosts, timeout: 30 * time.Second, maxReceives: 30, latency: 5 * time.Millisecond,
					handler: worked(), options: handler.Options{Random: seeded()},
				}
				for _, body := range []string{"14s", "16s", "18s", "20s", "24s", "1h"} {
					f.send(0, body)
				}
				const short = 8000
				for i := range short {
					f.send(time.Duration(i)*each*10/time.Duration(9*hosts), each.String())
				}
				f.run(48 * time.Hour)
				f.requireDone(func(j *fleetJob) bool { return j.body != "1h" })
				for _, j := range f.jobs[:6] {
					t.Logf("%s: %d runs, %d receives, gone after %v, dead %q",
						j.body, j.runs, j.receives, j.gone.Sub(j.sent).Round(time.Second), j.dead)
				}
				if endless := f.jobs[5]; endless.dead == "" || endless.receives > 30 {
					t.Errorf("%s: dead %q after %d receives", endless.body, endless.dead, endless.receives)
				}
			})
		}
	}
}
