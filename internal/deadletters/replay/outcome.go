package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Outcome is what became of a job whose letter was sent back.
type Outcome string

const (
	// OutcomePending says that the job has not ended.
	OutcomePending Outcome = "pending"
	// OutcomeDone says that the job is done.
	OutcomeDone Outcome = "done"
	// OutcomeDeadAgain says that the job is dead again.
	OutcomeDeadAgain Outcome = "dead again"
	// OutcomeUnknown says that the ledger does not know the job.
	OutcomeUnknown Outcome = "unknown"
)

// Followed is a job whose outcome is looked for.
type Followed struct {
	Item *Item
	// Sent is when its letter was sent back.
	Sent    time.Time
	Outcome Outcome
	// Entry is the job in the ledger; nil if it is not there.
	Entry *ledger.Entry
}

// jobID returns the id of the job in the ledger; empty if it is not known.
func (f *Followed) jobID() string {
	if e := f.Item.Letter.Entry; e != nil {
		return e.ID
	}
	return f.Item.Letter.JobID()
}

// Look asks the ledger for the outcomes of jobs that are pending, and returns how many are
// still. Its errors are those of the client.
func Look(ctx context.Context, table *ledger.Table, jobs []*Followed) (pending int, err error) {
	var wanted []string
	for _, f := range jobs {
		if f.Outcome == "" {
			f.Outcome = OutcomePending
		}
		if f.Outcome == OutcomePending {
			wanted = append(wanted, f.jobID())
		}
	}
	found, err := table.GetMany(ctx, wanted)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	for _, f := range jobs {
		if f.Outcome != OutcomePending {
			continue
		}
		f.Entry = found[f.jobID()]
		if f.Outcome = f.outcome(now); f.Outcome == OutcomePending {
			pending++
		}
	}
	return pending, nil
}

// clockMargin is for the difference between the clock of this machine and the function's.
const clockMargin = 2 * time.Second

func (f *Followed) outcome(now time.Time) Outcome {
	if f.jobID() == "" {
		return OutcomeUnknown
	}
	if f.Entry == nil {
		return OutcomePending // a job that the ledger has forgotten, and that has not begun
	}
	died := f.Item.Letter.Entry
	switch f.Entry.State(now) {
	case ledger.StateDone:
		return OutcomeDone
	case ledger.StateDead, ledger.StateUnsent, ledger.StateSending:
		known := died != nil && died.Status == "DEAD" && died.Epoch == f.Entry.Epoch && died.DeadAt.Equal(f.Entry.DeadAt)
		if known || f.Entry.DeadAt.Before(f.Sent.Add(-clockMargin)) {
			return OutcomePending
		}
		return OutcomeDeadAgain
	default:
		return OutcomePending
	}
}

// Failed counts the jobs that did not end well, and describes them; empty if there are
// none.
func Failed(jobs []*Followed) string {
	dead, unknown := 0, 0
	for _, f := range jobs {
		switch f.Outcome {
		case OutcomeDeadAgain:
			dead++
		case OutcomeUnknown:
			unknown++
		case OutcomePending, OutcomeDone:
		}
	}
	switch {
	case dead > 0:
		return fmt.Sprintf("%d of %d jobs are dead again", dead, len(jobs))
	case unknown > 0:
		return fmt.Sprintf("%d of %d jobs cannot be followed, since the ledger does not know them", unknown, len(jobs))
	}
	return ""
}

// Follow returns the jobs of the items, of which the letters were just sent.
func Follow(items []*Item) []*Followed {
	jobs := make([]*Followed, len(items))
	for i, item := range items {
		jobs[i] = &Followed{Item: item, Sent: time.Now()}
	}
	return jobs
}

// Trackable reports whether the ledger can tell the outcome of the letter's job.
func Trackable(l *deadletters.Letter) bool { return l.Entry != nil || l.JobID() != "" }
