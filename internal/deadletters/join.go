package deadletters

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// LedgerState says what the ledger has of a letter's job.
type LedgerState string

const (
	// LedgerUnasked says that nobody has asked, since no table is known.
	LedgerUnasked LedgerState = ""
	// LedgerUnreachable says that the table did not answer.
	LedgerUnreachable LedgerState = "unreachable"
	// LedgerUnnamed says that the letter does not name its job, and no job names the letter's
	// message.
	LedgerUnnamed LedgerState = "unnamed"
	// LedgerForgotten says that the table does not have the job, or no more.
	LedgerForgotten LedgerState = "forgotten"
	// LedgerDone says that the job is completed.
	LedgerDone LedgerState = "done"
	// LedgerDead says that the job is dead.
	LedgerDead LedgerState = "dead"
	// LedgerActive says that a delivery of the job runs, or waits for its next attempt.
	LedgerActive LedgerState = "active"
)

// JoinOptions configures [Join]. The zero value works.
type JoinOptions struct {
	// Scan reads the whole table for letters that do not name their job. Without it a
	// table of up to ScanLimit items is read.
	Scan bool
	// Now is the time at which the state counts; zero means the present.
	Now time.Time
}

// ScanLimit is up to how many items a table has that [Join] reads without being asked to:
// at about 1 KB each that is 50 MB, or a cent in AWS.
const ScanLimit = 50_000

// Join sets Ledger and Entry of the letters. A letter that SQS moved has no record: its
// job is the one whose key is the message id, or whose last claim was made for the
// message. After an error the letters that were not looked up are
// [LedgerUnreachable].
func Join(ctx context.Context, table *ledger.Table, letters []*Letter, o JoinOptions) error {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	strangers := map[string]bool{}
	var err error
	for part := range slices.Chunk(letters, joinPart) {
		if err == nil {
			err = joinNamed(ctx, table, part, strangers, o.Now)
			continue
		}
		for _, l := range part { // asked once, the ledger did not answer
			l.Ledger = LedgerUnreachable
		}
	}
	if err != nil || len(strangers) == 0 || !o.Scan && table.Items > ScanLimit {
		return err
	}
	byMessage, err := table.FindMessages(ctx, strangers)
	for _, l := range letters {
		stranger := l.Ledger == LedgerUnnamed && strangers[l.OriginalID()]
		switch entry := byMessage[l.OriginalID()]; {
		case entry != nil && stranger:
			l.join(entry, o.Now)
		case err != nil && stranger:
			l.Ledger = LedgerUnreachable
		}
	}
	return err
}

// joinPart is how many letters are looked up at a time, so that not all items are in memory.
const joinPart = 1000

// joinNamed looks letters up by the ids of their jobs, and notes the messages of those that
// name none.
func joinNamed(
	ctx context.Context, table *ledger.Table, letters []*Letter, strangers map[string]bool, now time.Time,
) error {
	ids := make([]string, len(letters))
	for i, l := range letters {
		if ids[i] = l.JobID(); ids[i] == "" && l.Source != "" {
			ids[i] = ledger.ID(l.SourceName(), l.OriginalID())
		}
	}
	found, err := table.GetMany(ctx, ids)
	for i, l := range letters {
		entry := found[ids[i]]
		switch {
		case entry != nil:
			l.join(entry, now)
		case err != nil:
			l.Ledger = LedgerUnreachable
		case l.JobID() != "":
			l.Ledger = LedgerForgotten
		default:
			l.Ledger = LedgerUnnamed
			strangers[l.OriginalID()] = l.Kind == KindMoved || l.Kind == KindUnknown
		}
	}
	return err
}

// join sets what the ledger has, and for a letter without a record what it knows of the
// failure.
func (l *Letter) join(e *ledger.Entry, now time.Time) {
	l.Entry = e
	if l.Message == nil { // what is slim stays so
		l.Entry = e.Slim()
	}
	switch e.State(now) {
	case ledger.StateExpired:
		l.Ledger = LedgerForgotten
	case ledger.StateDone:
		l.Ledger = LedgerDone
	case ledger.StateDead, ledger.StateSending, ledger.StateUnsent:
		l.Ledger = LedgerDead
	default:
		l.Ledger = LedgerActive
	}
	if l.Kind == KindRecorded || l.Record.Key != "" {
		return
	}
	_, l.Record.Key, _ = strings.Cut(e.ID, "#")
	l.Record.Epoch, l.Record.History = e.Epoch, e.History
	if n := len(e.History.Attempts); n > 0 {
		last := e.History.Attempts[n-1]
		l.Record.Message, l.Record.Rule, l.Record.Last = last.Message, last.Rule, last.End
		l.Record.First = e.History.Attempts[0].End
	}
	if e.Verdict != nil {
		l.fromVerdict(e.Verdict)
	}
	if e.CrashStack != "" && l.Record.Stack == "" {
		l.Record.Stack = e.CrashStack
	}
}

// fromVerdict takes over the failure of a job that died, whose letter did not get through
// with its record.
func (l *Letter) fromVerdict(v *handler.Failure) {
	key := l.Record.Key
	l.Record.Failure = *v
	if l.Record.Key == "" {
		l.Record.Key = key
	}
}
