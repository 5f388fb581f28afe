package replay

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Target is a queue to which letters are sent.
type Target struct {
	Name, URL, ARN string
	FIFO           bool
	// MaxBytes is the size of the largest message that it takes.
	MaxBytes int
}

// Item is a letter of a plan.
type Item struct {
	Letter *deadletters.Letter
	Target *Target
	// Refused says why the letter cannot be sent; empty if it can.
	Refused string
	Outlook Outlook
	// Why explains the outlook.
	Why string
	// DedupID is the deduplication id for a FIFO queue.
	DedupID string
	// Body replaces the body of the letter; nil sends it as it is.
	Body *string
}

// Content is the letters' payloads as the ledger hashes them, by letter id. One that is
// missing counts as that of the job.
type Content map[string]string

// PlanOptions configures [NewPlan].
type PlanOptions struct {
	// Run is the id of the run, which makes deduplication ids new.
	Run string
	// FIFO says that the dead-letter queue is a FIFO queue.
	FIFO bool
	// Targets has the queue for each source ARN.
	Targets map[string]*Target
	// To is the queue for all letters; nil sends each to its source.
	To *Target
	// Default is the queue for letters whose source is not known; nil refuses them.
	Default *Target
	// Body replaces the body of the letters; nil sends them as they are.
	Body *string
	// Content has the hashes of the payloads that are not edited.
	Content Content
	// Now is the time at which the ledger counts.
	Now time.Time
}

// Plan is what a replay would do: a fixed set of letters in a fixed order.
type Plan struct {
	Run   string
	Items []*Item
}

// NewPlan plans the replay of letters that [deadletters.Join] has looked up.
func NewPlan(letters []*deadletters.Letter, o PlanOptions) *Plan {
	letters = append([]*deadletters.Letter(nil), letters...)
	deadletters.Sort(letters, o.FIFO)
	p := &Plan{Run: o.Run}
	for _, l := range letters {
		item := &Item{Letter: l, Target: o.To, Body: o.Body}
		if item.Target == nil {
			item.Target = o.Targets[l.Source]
		}
		if item.Target == nil && l.Source == "" {
			item.Target = o.Default
		}
		content := o.Content[l.ID]
		if o.Body != nil {
			content = idem.Hash{}.Validation(*o.Body)
		}
		item.Outlook, item.Why = outlook(l, content, o.Now)
		item.Refused = item.refuse()
		// By the run's id a second replay within five minutes is no repetition of the first
		// one. The letter's own is that of no other: a job may die twice within one run.
		item.DedupID = l.ID + "-" + o.Run
		p.Items = append(p.Items, item)
	}
	return p
}

func (i *Item) refuse() string {
	l, t := i.Letter, i.Target
	size := l.Size
	switch {
	case l.Report:
		return "it is a report about events, not the events themselves"
	case t == nil && l.Source == "":
		return "it does not say from which queue it came; name one with --to"
	case t == nil:
		return "its source queue " + l.SourceName() + " is not there; name another with --to"
	case t.FIFO && l.Group == "":
		return "queue " + t.Name + " is FIFO, and the letter has no message group"
	case size > t.MaxBytes:
		return fmt.Sprintf("it has %d bytes, and queue %s takes %d", size, t.Name, t.MaxBytes)
	}
	return ""
}

// Sendable returns the items that are not refused.
func (p *Plan) Sendable() []*Item {
	var items []*Item
	for _, i := range p.Items {
		if i.Refused == "" {
			items = append(items, i)
		}
	}
	return items
}

// Tally counts the letters of a plan.
type Tally struct {
	Letters     int `json:"letters"`
	Refused     int `json:"refused"`
	Runs        int `json:"run"`
	Duplicates  int `json:"duplicates"`
	Busy        int `json:"busy"`
	Conflicts   int `json:"conflicts"`
	Unprotected int `json:"unprotected"`
	Unknown     int `json:"unknown"`
	// Final is the number of letters that run again and died of an error that no retry
	// mends; Again that of letters that were replayed before.
	Final int `json:"final"`
	Again int `json:"failedAgain"`
}

// Tally counts the letters.
func (p *Plan) Tally() Tally {
	t := Tally{Letters: len(p.Items)}
	for _, i := range p.Items {
		if i.Refused != "" {
			t.Refused++
			continue
		}
		switch i.Outlook {
		case OutlookRuns:
			t.Runs++
			if i.Letter.Record.Class == "permanent" && i.Body == nil {
				t.Final++
			}
		case OutlookDuplicate:
			t.Duplicates++
		case OutlookBusy:
			t.Busy++
		case OutlookConflict:
			t.Conflicts++
		case OutlookUnprotected:
			t.Unprotected++
		case OutlookUnknown:
			t.Unknown++
		}
		if i.Letter.Replayed() > 0 {
			t.Again++
		}
	}
	return t
}

// Verdict says in words whether it is safe to send the letters back, and whether it is.
func (t Tally) Verdict() (safe bool, text string) {
	sendable := t.Letters - t.Refused
	var risks, advice []string
	note := func(to *[]string, n int, one, many string) {
		if n == 1 {
			*to = append(*to, "1 "+one)
		} else if n > 1 {
			*to = append(*to, fmt.Sprint(n, " ", many))
		}
	}
	note(&risks, t.Unprotected, "job runs without the protection of the ledger, which has forgotten it",
		"jobs run without the protection of the ledger, which has forgotten them")
	note(&risks, t.Unknown, "job is not known to the ledger: if it took effect before, it does so again",
		"jobs are not known to the ledger: what took effect before does so again")
	note(&advice, t.Final, "died of an error that no retry mends: correct the cause first, or it comes back",
		"died of errors that no retry mends: correct the cause first, or they come back")
	note(&advice, t.Conflicts, "has the key of another job, and will be dead again", "have keys of other jobs, "+
		"and will be dead again")
	note(&advice, t.Again, "was replayed before and failed again", "were replayed before and failed again")
	switch {
	case sendable == 0:
		return false, "nothing can be sent"
	case t.Duplicates == sendable:
		return true, "safe, and of no use: all of these jobs are done; discard the letters"
	}
	verdict := "safe: each job runs once, or is recognized as a duplicate"
	if len(risks) > 0 {
		verdict = "not safe: " + strings.Join(risks, "; ")
	}
	if len(advice) > 0 {
		verdict += "; but " + strings.Join(advice, "; ")
	}
	return len(risks) == 0, cmp.Or(verdict, "safe")
}
