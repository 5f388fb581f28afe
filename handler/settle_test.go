package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestADeadLetterIsAcknowledgedOnlyWhenConfirmed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		lease     time.Duration
		sendErr   error
		afterErr  error
		reported  []string
		confirmed []string
		hidden    time.Duration
		logged    string
	}{
		{"sent and confirmed", time.Minute, nil, nil, []string{}, []string{"dead-m1"}, 0, ""},
		{"not sent: comes back when the lease has lapsed", time.Minute, errOdd, nil,
			[]string{"m1"}, nil, 68 * time.Second, "dead letter not sent"},
		{"sent, the ledger does not answer", time.Minute, nil, errOdd,
			[]string{}, []string{"dead-m1"}, 0, "dead letter not confirmed in the ledger"},
		{"the lease is too short to send", 0, nil, nil,
			[]string{"m1"}, nil, 2 * time.Second, "dead letter not sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueues()
				q.sendErr = map[string]error{"m1": tt.sendErr}
				var confirmed []string
				o := q.options()
				o.Ledger = verdicts(tt.lease, func(_ context.Context, id string) error {
					confirmed = append(confirmed, id)
					return tt.afterErr
				})
				ids := handle(t, newProcessor(byBody(script), o), record("m1", "permanent"))
				if diff := cmp.Diff(tt.reported, ids); diff != "" {
					t.Errorf("reported (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.confirmed, confirmed); diff != "" {
					t.Errorf("confirmed (-want +got):\n%s", diff)
				}
				if q.hidden["m1"] != tt.hidden {
					t.Errorf("hidden for %v, want %v", q.hidden["m1"], tt.hidden)
				}
				const over = "the claim on the job may be another delivery's by now"
				if got := q.logged(t, tt.logged, "error"); tt.lease == 0 && !cmp.Equal(got, []string{over}) {
					t.Errorf("logged %v", got)
				}
				if tt.logged != "" && len(q.logged(t, tt.logged, "error")) != 1 {
					t.Errorf("want one line %q in:\n%s", tt.logged, &q.logLines)
				}
			})
		})
	}
}

// silent answers for nothing that it was given.
type silent struct{ *queues }

func (silent) Send(context.Context, []handler.Letter) {}

// ChangeVisibility applies the changes and answers for none.
func (s silent) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	s.queues.ChangeVisibility(ctx, slices.Clone(changes))
}

func TestAMissingAnswerIsNoConfirmation(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.DeadLetter, o.Queue = silent{q}, silent{q}
	if ids := handle(t, newProcessor(byBody(script), o), record("m1", "permanent")); len(ids) != 1 {
		t.Errorf("reported %v, want m1", ids)
	}
	if q.hidden["m1"] < time.Second {
		t.Errorf("hidden for %v, want at least a second", q.hidden["m1"])
	}
	for _, line := range []string{"dead letter not sent", "visibility timeout not changed"} {
		if got := q.logged(t, line, "error"); !cmp.Equal(got, []string{handler.ErrUnanswered.Error()}) {
			t.Errorf("%s: logged %v", line, got)
		}
	}
}

func TestAFailedVisibilityChangeIsLoggedAndLeftToTheQueue(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.hideErr = map[string]error{"m1": errOdd}
	ids := handle(t, newProcessor(byBody(script), q.options()), record("m1", "reset"), record("m2", "reset"))
	if diff := cmp.Diff([]string{"m1", "m2"}, ids); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if got := q.logged(t, "visibility timeout not changed", "messageId"); !cmp.Equal(got, []string{"m1"}) {
		t.Errorf("logged for %v, want m1", got)
	}
}

func TestVisibilityStaysWithinTwelveHours(t *testing.T) {
	t.Parallel()
	q := newQueues()
	h := handler.Func(fails(fault.RetryAfter(20*time.Hour, errOdd)))
	handle(t, newProcessor(h, q.options()), record("m1", "x"))
	if got := q.hidden["m1"]; got > 12*time.Hour || got < 11*time.Hour {
		t.Errorf("hidden for %v, want a little under 12 h", got)
	}
}

func TestTheEvidence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		start := time.Now()
		h := handler.Func(func(context.Context, *handler.Message) error {
			<-time.After(3 * time.Second)
			long := errors.New(strings.Repeat("x", 20_000))
			return fmt.Errorf("charge: %w", fault.Permanent(long, fault.WithReason("declined")))
		})
		handle(t, newProcessor(h, q.options()), record("m1", "x"))
		f := q.letters[0].Failure
		if f.Class != "permanent" || f.Reason != "declined" || f.Rule != "tag.permanent" || f.Attempts != 0 {
			t.Errorf("decision: %+v", f)
		}
		if f.First.Sub(start) != 3*time.Second || !f.Last.Equal(f.First.Time) {
			t.Errorf("first %v, last %v, started %v", f.First, f.Last, start)
		}
		if own := strings.Contains(f.Stack, "handler_test"); !own || strings.Contains(f.Stack, "Processor") ||
			len(f.Message) > 8<<10 || len(f.Fingerprint) != 12 {
			t.Errorf("stack %q, message of %d bytes, fingerprint %q", f.Stack, len(f.Message), f.Fingerprint)
		}
		if len(f.History.Attempts) != 1 || len(f.History.Attempts[0].Message) > 256 {
			t.Errorf("history %+v, want one short entry", f.History)
		}
	})
}

func TestTheLastAttemptKeepsTheReasonOfItsError(t *testing.T) {
	t.Parallel()
	q := newQueues()
	handle(t, newProcessor(byBody(script), q.options()), received(8, record("m1", "reset")))
	f := q.letters[0].Failure
	if f.Reason != handler.ReasonExhausted || f.History.Attempts[0].Reason != fault.ReasonConnection {
		t.Errorf("died of %s, last attempt of %s", f.Reason, f.History.Attempts[0].Reason)
	}
	if !strings.Contains(f.Stack, "handler.(*Processor).") || strings.Count(f.Stack, "\n") != 1 {
		t.Errorf("stack %q, want the one place where the error was caught", f.Stack)
	}
}

func TestFingerprintTellsKindsApart(t *testing.T) {
	t.Parallel()
	fingerprint := func(err error) string {
		q := newQueues()
		handle(t, newProcessor(handler.Func(fails(err)), q.options()), received(9, record("m1", "x")))
		return q.letters[0].Failure.Fingerprint
	}
	first, again := fingerprint(errors.New("one")), fingerprint(errors.New("two"))
	if first != again {
		t.Error("two texts of one kind have two fingerprints")
	}
	if other := fingerprint(context.DeadlineExceeded); other == first {
		t.Error("two kinds have one fingerprint")
	}
}
