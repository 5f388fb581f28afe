package replay

import (
	"fmt"
	"strings"
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

// Outcomes counts jobs by their outcomes.
type Outcomes struct {
	Pending   int `json:"pending"`
	Done      int `json:"done"`
	DeadAgain int `json:"deadAgain"`
	Unknown   int `json:"unknown"`
}

// Total returns the number of jobs.
func (o *Outcomes) Total() int { return o.Pending + o.Done + o.DeadAgain + o.Unknown }

func (o *Outcomes) add(outcome Outcome) {
	switch outcome {
	case OutcomeDone:
		o.Done++
	case OutcomeDeadAgain:
		o.DeadAgain++
	case OutcomeUnknown:
		o.Unknown++
	case OutcomePending:
		o.Pending++
	}
}

// failure says that jobs did not end well; empty if all did that have ended.
func (o *Outcomes) failure() string {
	switch {
	case o.DeadAgain > 0:
		return fmt.Sprintf("%d of %s dead again", o.DeadAgain, deadletters.Number(o.Total(), "job is", "jobs are"))
	case o.Unknown > 0:
		return fmt.Sprintf("the ledger does not know %d of %s", o.Unknown, deadletters.Number(o.Total(), "job", "jobs"))
	}
	return ""
}

// Followed is a job whose outcome is looked for.
type Followed struct {
	Item *Item
	// Sent is when its letter was sent back, and MessageID the id of that message.
	Sent      time.Time
	MessageID string
	Outcome   Outcome
	// Entry is the job in the ledger; nil if it is not there.
	Entry *ledger.Entry
	// Reason is the class and the reason of a new death.
	Reason string
}

// JobID returns the id of the job in the ledger; empty if it is not known. A job that died
// before it had a key gets its id when the ledger has it.
func (f *Followed) JobID() string {
	if f.Entry != nil {
		return f.Entry.ID
	}
	if e := f.Item.Letter.Entry; e != nil {
		return e.ID
	}
	return f.Item.Letter.JobID()
}

// clockMargin is for the difference between the clock of this machine and the function's.
const clockMargin = 2 * time.Second

// look sets the outcome by what the ledger has.
func (f *Followed) look(entry *ledger.Entry, now time.Time) {
	if f.Entry = entry; entry != nil {
		f.Entry = entry.Slim()
	}
	if f.Outcome = f.outcome(now); f.Outcome == OutcomeDeadAgain && entry.Verdict != nil {
		f.Reason = reasonText(entry.Verdict.Class, entry.Verdict.Reason)
	}
}

func (f *Followed) outcome(now time.Time) Outcome {
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

func reasonText(class, reason string) string {
	if class == reason {
		return class
	}
	return strings.TrimSpace(class + " " + reason)
}
