package replay

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Outlook says what will happen to the job of a letter that is sent back.
type Outlook string

const (
	// OutlookRuns says that the job runs again, with a whole budget unless Why says
	// otherwise.
	OutlookRuns Outlook = "runs"
	// OutlookDuplicate says that the job is done, so that the message does nothing.
	OutlookDuplicate Outlook = "duplicate"
	// OutlookBusy says that another delivery of the job runs or waits: the message waits
	// for its end.
	OutlookBusy Outlook = "busy"
	// OutlookConflict says that the key belongs to another payload: the letter will be
	// dead again.
	OutlookConflict Outlook = "conflict"
	// OutlookUnprotected says that the ledger has forgotten the job, so that it runs
	// whatever it has done before.
	OutlookUnprotected Outlook = "unprotected"
	// OutlookUnknown says that nobody knows.
	OutlookUnknown Outlook = "unknown"
)

// outlook returns what the ledger will say to the message, and why, by the protocol of
// claims itself.
func outlook(l *deadletters.Letter, content string, now time.Time) (Outlook, string) {
	switch l.Ledger {
	case deadletters.LedgerUnasked:
		return OutlookUnknown, "the ledger was not asked"
	case deadletters.LedgerUnreachable:
		return OutlookUnknown, "the ledger cannot be reached"
	case deadletters.LedgerUnnamed:
		if l.Kind == deadletters.KindRecorded && l.Record.Key == "" {
			return OutlookRuns, "it died before it had a key, and nothing ran"
		}
		return OutlookUnknown, "the ledger knows no job of this message"
	case deadletters.LedgerForgotten:
		if l.Kind == deadletters.KindRecorded && !l.Record.Verdict {
			return OutlookRuns, "the ledger has no job with its key"
		}
		return OutlookUnprotected, "the ledger has forgotten the job: it runs whatever it has done before"
	case deadletters.LedgerDone, deadletters.LedgerDead, deadletters.LedgerActive:
	}
	return decide(l, content, now)
}

// decide asks the protocol of claims, as a store does for the next delivery.
func decide(l *deadletters.Letter, content string, now time.Time) (Outlook, string) {
	item := itemOf(l.Entry)
	request := idem.Request{
		ID: item.ID, Owner: "replay", MessageID: "replay", SentAt: now, Now: now, Validation: item.Validation,
		Lease: now.Add(time.Minute), Expires: now.Add(time.Hour),
	}
	if l.Record.Verdict {
		request.Epoch = l.Record.Epoch + 1
	}
	// A function may hash parts of the payload, or what is inside an envelope: then it is
	// not known here, and counts as that of the job.
	if content != "" {
		request.Validation = content
	}
	d := idem.Decide(item, request)
	switch d.Answer.Kind {
	case idem.AnswerDuplicate:
		return OutlookDuplicate, "the job is done"
	case idem.AnswerBusy:
		return OutlookBusy, "another delivery has the job until " + d.Answer.Until.UTC().Format(time.RFC3339)
	case idem.AnswerConflict:
		return OutlookConflict, "the ledger has its key with another payload: it will be dead again"
	case idem.AnswerSend:
		return OutlookRuns, "its letter was not confirmed, and is sent again first"
	default:
		if d.Answer.Job.Attempts > 0 {
			return OutlookRuns, "it goes on with the budget that is left"
		}
		return OutlookRuns, "it runs again with a whole budget"
	}
}

// itemOf converts what the ledger's reader returns into what its protocol knows.
func itemOf(e *ledger.Entry) *idem.Item {
	return &idem.Item{
		ID: e.ID, Status: idem.Status(e.Status), Expiration: e.Expires, Lease: e.Lease, Validation: e.Validation,
		Owner: e.Owner, MessageID: e.MessageID, Epoch: e.Epoch, Claims: e.Claims, Settled: e.Settled, Crashes: e.Crashes,
		Attempts: e.Attempts, Unclassified: e.Unclassified, History: e.History, DeadAt: e.DeadAt, Verdict: e.Verdict,
		DeadLetterID: e.DeadLetterID,
	}
}
