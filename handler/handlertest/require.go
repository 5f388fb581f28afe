package handlertest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// RequireOutcomes stops the test unless the deliveries of the message ended so,
// in this order.
func (r *RunReport) RequireOutcomes(t testing.TB, id string, want ...handler.Outcome) {
	t.Helper()
	if got := r.job(t, id).Outcomes(); !slices.Equal(got, want) {
		t.Fatalf("%s ended as %s; want %s\n%s", id, names(got), names(want), r)
	}
}

// RequireReason stops the test unless that is the reason of the outcome of the
// message's last delivery.
func (r *RunReport) RequireReason(t testing.TB, id, want string) {
	t.Helper()
	if got := r.delivery(t, id, 0).Reason; got != want {
		t.Fatalf("%s has %s as its last reason; want %s\n%s", id, orNone(got), orNone(want), r)
	}
}

// RequireDelay stops the test unless the message stayed hidden for at least least
// and at most most after its nth delivery, counted from 1.
func (r *RunReport) RequireDelay(t testing.TB, id string, n int, least, most time.Duration) {
	t.Helper()
	if got := r.delivery(t, id, n).Delay; got < least || got > most {
		t.Fatalf("%s comes back %v after delivery %d; want %v to %v\n%s", id, got, n, least, most, r)
	}
}

// RequireRuns stops the test unless the handler was called with the message that
// often.
func (r *RunReport) RequireRuns(t testing.TB, id string, want int) {
	t.Helper()
	if got := r.job(t, id).Runs(); got != want {
		t.Fatalf("%s ran %d times; want %d\n%s", id, got, want, r)
	}
}

// RequireRunOrder stops the test unless the handler was called with these
// messages, in this order.
func (r *RunReport) RequireRunOrder(t testing.TB, want ...string) {
	t.Helper()
	if !slices.Equal(r.RunOrder, want) {
		t.Fatalf("the handler ran for %s; want %s\n%s",
			orNone(strings.Join(r.RunOrder, ", ")), orNone(strings.Join(want, ", ")), r)
	}
}

// RequireDeadLetter stops the test unless the message was dead-lettered for that
// reason, and gives the letter.
func (r *RunReport) RequireDeadLetter(t testing.TB, id, reason string) handler.Letter {
	t.Helper()
	letter := r.job(t, id).Letter
	if letter == nil {
		t.Fatalf("%s was not dead-lettered; want that for %s\n%s", id, reason, r)
	}
	if letter.Failure.Reason != reason {
		t.Fatalf("%s was dead-lettered for %s; want that for %s\n%s", id, letter.Failure.Reason, reason, r)
	}
	return *letter
}

// RequireNoDeadLetters stops the test if any message was dead-lettered, with a
// record or by SQS.
func (r *RunReport) RequireNoDeadLetters(t testing.TB) {
	t.Helper()
	for _, j := range r.Jobs {
		if j.Letter != nil {
			t.Fatalf("%s was dead-lettered for %s; want no dead letters\n%s", j.ID, j.Letter.Failure.Reason, r)
		}
		if j.Redriven {
			t.Fatalf("%s was dead-lettered by SQS; want no dead letters\n%s", j.ID, r)
		}
	}
}

func (r *RunReport) job(t testing.TB, id string) *JobReport {
	t.Helper()
	j := r.Job(id)
	if j == nil {
		var ids []string
		for _, other := range r.Jobs {
			ids = append(ids, other.ID)
		}
		t.Fatalf("no message has the id %q; those of the report are %s", id, orNone(strings.Join(ids, ", ")))
	}
	return j
}

// delivery is the nth of the message, from 1; 0 stands for the last.
func (r *RunReport) delivery(t testing.TB, id string, n int) *Delivery {
	t.Helper()
	all := r.job(t, id).Deliveries
	if n == 0 {
		n = len(all)
	}
	if n < 1 || n > len(all) {
		t.Fatalf("%s has no delivery %d; it was delivered %d times\n%s", id, n, len(all), r)
	}
	return all[n-1]
}

func names(outcomes []handler.Outcome) string {
	var texts []string
	for _, o := range outcomes {
		texts = append(texts, o.String())
	}
	return orNone(strings.Join(texts, ", "))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
