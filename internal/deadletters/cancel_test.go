package deadletters_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// A job that waits for its next attempt is cancelled: the next delivery sends it to the
// dead-letter queue and does not run it, and a replay runs it with a whole budget.
func TestACancelledJobDiesWithoutARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Send(s.SourceURL, `{"id":"o-1"}`, "", nil)
		s.RunOnce()
		table, err := ledger.Open(t.Context(), s.DynamoDB, letterstest.Table)
		if err != nil {
			t.Fatal(err)
		}
		job, err := table.Get(t.Context(), "orders#o-1")
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Cancel(t.Context(), job, "the customer left", "me", time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := table.Cancel(t.Context(), job, "again", "me", time.Now()); err != nil {
			t.Errorf("repeated: %v", err) // as after a lost answer
		}
		if err := table.Cancel(t.Context(), job, "again", "you", time.Now()); !errors.Is(err, ledger.ErrChanged) {
			t.Errorf("by another: %v", err)
		}
		s.Work()
		if len(s.Done) != 0 {
			t.Errorf("it ran: %v", s.Done)
		}
		letters := joined(t, s)
		if len(letters) != 1 {
			t.Fatalf("%d letters", len(letters))
		}
		l := letters[0]
		if l.Reason() != "permanent withdrawn" || !strings.Contains(l.Record.Message, "the customer left") ||
			l.Record.Runs() != 1 || !l.Record.Verdict || l.Ledger != deadletters.LedgerDead {
			t.Errorf("letter %+v", l)
		}
		if job, err = table.Get(t.Context(), "orders#o-1"); err != nil || job.State(time.Now()) != ledger.StateDead {
			t.Errorf("job %+v, %v", job, err)
		}
		if err := table.Cancel(t.Context(), job, "again", "me", time.Now()); !errors.Is(err, ledger.ErrEnded) {
			t.Errorf("a dead job: %v", err)
		}
	})
}
