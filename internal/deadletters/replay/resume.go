package replay

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Rest is what an earlier run left to do, for the letters that are in the queue.
type Rest struct {
	// Send are the letters that were certainly not sent, and those that may have been and
	// whose second message the ledger makes a duplicate.
	Send []*Item
	// Again is how many of Send may have been sent.
	Again int
	// Delete are the letters whose messages were confirmed.
	Delete []*Item
	// Uncertain are the letters that may have been sent, where a second message might take
	// effect again.
	Uncertain []*Item
	// Refused are letters that cannot be sent, with the reason in the item.
	Refused []*Item
	// Missing are the ids of letters that are not in the queue, or are hidden, and that
	// the journal does not know as deleted.
	Missing []string
}

// Resume compares a plan of the letters that are in the queue with what the journal knows.
// With again, letters that may have been sent are sent in any case.
func (p *Past) Resume(plan *Plan, again bool) Rest {
	var rest Rest
	items := map[string]*Item{}
	for _, item := range plan.Items {
		items[item.Letter.ID] = item
	}
	for _, id := range p.Order {
		known, item := p.Letters[id], items[id]
		switch {
		case known.State == StateDeleted:
			continue
		case item == nil:
			rest.Missing = append(rest.Missing, id)
		case known.State == StateSent:
			rest.Delete = append(rest.Delete, item)
		case known.State == StateSending && !known.Protected && !again:
			rest.Uncertain = append(rest.Uncertain, item)
		default:
			if known.Edited && item.Refused == "" {
				item.Refused = "its edited copy was not sent; edit it again"
			}
			if item.Refused != "" {
				rest.Refused = append(rest.Refused, item)
				continue
			}
			// The same deduplication id: within five minutes SQS drops a second message.
			item.DedupID = known.DedupID
			if known.State == StateSending {
				rest.Again++
			}
			rest.Send = append(rest.Send, item)
		}
	}
	return rest
}

// Knows reports whether the letter is one of the run.
func (p *Past) Knows(l *deadletters.Letter) bool { return p.Letters[l.ID] != nil }

// Unfinished returns how many letters the journal does not know as deleted.
func (p *Past) Unfinished() int {
	n := 0
	for _, line := range p.Letters {
		if line.State != StateDeleted {
			n++
		}
	}
	return n
}

// Visible returns when all letters that the run had hidden are visible again.
func (p *Past) Visible() time.Time {
	return p.Last.Add(time.Duration(p.Header.HoldSeconds) * time.Second)
}
