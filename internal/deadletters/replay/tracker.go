package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Tracker follows the jobs of letters that were sent back to their outcomes. A run calls
// Observe, and may call Step and the condition of Bounced. It is used by one goroutine.
type Tracker struct {
	// Table is the ledger; without one no outcome is known.
	Table *ledger.Table
	// Queue is the dead-letter queue, which tells of letters that died again before they had
	// a key. Read configures that look.
	Queue *deadletters.Queue
	Read  deadletters.ReadOptions

	jobs   []*Followed
	byItem map[*Item]*Followed
	asked  time.Time // when the jobs without a key were looked for
}

// Observe takes what became of a letter, and follows its job if it was sent.
func (t *Tracker) Observe(e Event) {
	if e.State != StateDeleted && e.State != StateSent {
		return
	}
	if t.byItem == nil {
		t.byItem = map[*Item]*Followed{}
	}
	f := &Followed{Item: e.Item, Sent: time.Now(), MessageID: e.MessageID, Outcome: OutcomePending}
	t.jobs, t.byItem[e.Item] = append(t.jobs, f), f
}

// Jobs returns the jobs in the order in which their letters were sent.
func (t *Tracker) Jobs() []*Followed { return t.jobs }

// Outcomes counts the jobs by what was known at the last look.
func (t *Tracker) Outcomes() Outcomes { return outcomesOf(t.jobs) }

func outcomesOf(jobs []*Followed) Outcomes {
	var n Outcomes
	for _, f := range jobs {
		n.add(f.Outcome)
	}
	return n
}

// Step looks whether the jobs of a step have ended: it returns how many have not, and a
// reason to stop, or none. It is an [Options.Outcome].
func (t *Tracker) Step(ctx context.Context, items []*Item) (pending int, reason string, err error) {
	var jobs []*Followed
	for _, i := range items {
		if f := t.byItem[i]; f != nil {
			jobs = append(jobs, f)
		}
	}
	if missing := len(items) - len(jobs); missing > 0 {
		return 0, fmt.Sprintf("%d of %s of this step were not sent", missing,
			deadletters.Number(len(items), "letter", "letters")), nil
	}
	if t.Table == nil {
		return 0, "there is no ledger that tells how the jobs of this step end", nil
	}
	if err := t.look(ctx, jobs); err != nil {
		return 0, "", err
	}
	n := outcomesOf(jobs)
	return n.Pending, n.failure(), nil
}

// mostBounces is how many of the last jobs are looked at while a run is under way.
const mostBounces = 1000

// Bounced returns a reason to stop if more jobs than that are dead again, by the ledger.
// Unlike the numbers of the queue the ledger is never late.
func (t *Tracker) Bounced(limit int) Condition {
	return func(ctx context.Context) (string, error) {
		if err := t.look(ctx, t.jobs[max(0, len(t.jobs)-mostBounces):]); err != nil {
			return "", err
		}
		if dead := t.Outcomes().DeadAgain; dead > limit {
			dead := deadletters.Number(dead, "job is", "jobs are")
			return fmt.Sprintf("%s dead again, of %d sent back", dead, len(t.jobs)), nil
		}
		return "", nil
	}
}

// trackPause is the pause between two looks at the ledger.
const trackPause = 2 * time.Second

// Wait looks until all jobs have ended, or the time is over. told is called after each look.
// Its errors are those of the clients and of ctx.
func (t *Tracker) Wait(ctx context.Context, limit time.Duration, told func(Outcomes)) error {
	for end := time.Now().Add(limit); ; {
		if err := t.look(ctx, t.jobs); err != nil {
			return err
		}
		n := t.Outcomes()
		told(n)
		if n.Pending == 0 || time.Now().After(end) {
			return nil
		}
		timer := time.NewTimer(trackPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// look asks for the outcomes of the jobs that are pending.
func (t *Tracker) look(ctx context.Context, jobs []*Followed) error {
	var named, nameless []*Followed
	for _, f := range jobs {
		switch {
		case f.Outcome != OutcomePending:
		case f.JobID() != "":
			named = append(named, f)
		default:
			nameless = append(nameless, f)
		}
	}
	for part := range slices.Chunk(named, lookPart) {
		if err := t.lookForNames(ctx, part); err != nil {
			return err
		}
	}
	for _, f := range named {
		if f.Outcome == OutcomePending && f.Item.Body != nil && t.Table.Items <= deadletters.ScanLimit {
			nameless = append(nameless, f) // an edited payload may have another key
		}
	}
	return t.lookForMessages(ctx, nameless)
}

// lookPart is how many jobs are looked up at a time, so that not all items are in memory.
const lookPart = 1000

func (t *Tracker) lookForNames(ctx context.Context, jobs []*Followed) error {
	ids := make([]string, len(jobs))
	for i, f := range jobs {
		ids[i] = f.JobID()
	}
	found, err := t.Table.GetMany(ctx, ids)
	if err != nil {
		return err
	}
	now := time.Now()
	for i, f := range jobs {
		f.look(found[ids[i]], now)
	}
	return nil
}

const (
	// namelessPause is the pause between two looks for jobs without a key, each of which
	// reads the whole table.
	namelessPause = 10 * time.Second
	// mostLetters is up to how many letters of the queue such a look reads.
	mostLetters = 1000
)

// lookForMessages looks for jobs that had no key when they died: the ledger has the job that
// their message has become, or the queue has the message as a new letter.
func (t *Tracker) lookForMessages(ctx context.Context, jobs []*Followed) error {
	if len(jobs) == 0 || !t.asked.IsZero() && time.Since(t.asked) < namelessPause {
		return nil
	}
	t.asked = time.Now()
	byMessage := map[string]*Followed{}
	wanted := map[string]bool{}
	for _, f := range jobs {
		if f.MessageID == "" || t.Table.Items > deadletters.ScanLimit {
			f.Outcome = OutcomeUnknown
			continue
		}
		byMessage[f.MessageID], wanted[f.MessageID] = f, true
	}
	if len(wanted) == 0 {
		return nil
	}
	found, err := t.Table.FindMessages(ctx, wanted)
	if err != nil {
		return err
	}
	for id, entry := range found {
		byMessage[id].look(entry, time.Now())
		delete(byMessage, id)
	}
	return t.lookForLetters(ctx, byMessage)
}

// lookForLetters marks the jobs whose messages are dead letters again.
func (t *Tracker) lookForLetters(ctx context.Context, byMessage map[string]*Followed) error {
	if len(byMessage) == 0 || t.Queue == nil || t.Queue.Target != "" && !t.Read.SpendReceives {
		return nil
	}
	q := *t.Queue
	var err error
	if q.Count, err = q.Recount(ctx); err != nil || q.Count.Visible == 0 || q.Count.Visible > mostLetters {
		return err
	}
	reading, err := q.Read(ctx, deadletters.ReadOptions{SpendReceives: t.Read.SpendReceives},
		func(m *deadletters.Message) bool {
			r := &deadletters.Decode(&q, m).Record
			f := byMessage[r.DeliveredID]
			if f == nil {
				f = byMessage[r.MessageID]
			}
			if f != nil {
				f.Outcome, f.Reason = OutcomeDeadAgain, reasonText(r.Class, r.Reason)
			}
			return true
		})
	if err != nil {
		return err
	}
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return reading.Hold.Release(releasing)
}
