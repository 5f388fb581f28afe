package deadletters

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// KindText says in words where the letter comes from.
func (l *Letter) KindText() string {
	text := map[Kind]string{
		KindRecorded:    "sent by sqsafe, with a failure record",
		KindMoved:       "moved by SQS after maxReceiveCount receives, without a failure record",
		KindLambda:      "an event of an asynchronous invocation, sent by Lambda",
		KindEventBridge: "an event that EventBridge could not deliver",
		KindSNS:         "a notification that SNS could not deliver",
		KindUnknown:     "without a sign of who sent it, and why",
	}[l.Kind]
	switch {
	case l.Events > 1:
		text += fmt.Sprintf("; a report about %d events, not the events themselves", l.Events)
	case l.Report:
		text += "; a report about the event, not the event itself"
	}
	return text
}

// LedgerText says in words what the ledger holds of the letter's job. It is empty if no
// ledger was asked.
func (l *Letter) LedgerText() string {
	switch l.Ledger {
	case LedgerUnreachable:
		return "the ledger did not answer"
	case LedgerUnnamed:
		return "the letter names no job, and no job names its message"
	case LedgerForgotten:
		return "the ledger does not have the job, or no more"
	case LedgerDone:
		return "the job is done"
	case LedgerDead:
		return "the job is dead"
	case LedgerActive:
		return "a delivery of the job runs, or waits for its next attempt"
	default:
		return ""
	}
}

// Number formats a number of things.
func Number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Visible shows control characters, and those that change the direction or the lines of a
// text, as in a Go string. Of those it keeps the ones in stay.
func Visible(text, stay string) string {
	var b strings.Builder
	for _, r := range text {
		if !strings.ContainsRune(stay, r) && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
