package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// Condition is looked at while a run is under way. A reason ends the run.
type Condition func(ctx context.Context) (reason string, err error)

// Options configures a [Run]. The zero value works.
type Options struct {
	// Rate is the maximum number of letters a second; 0 means no limit.
	Rate float64
	// Plain sends messages without their failure record, for functions that are not
	// written with sqsafe.
	Plain bool
	// Steps are the sizes of the first steps. After each of them, Outcome must say that
	// its jobs ended well; what is left after the last goes without a further stop.
	Steps []int
	// Outcome looks whether the jobs of a step have ended: it returns how many have not,
	// and a reason to stop, or none. It is required with Steps.
	Outcome func(ctx context.Context, items []*Item) (pending int, reason string, err error)
	// StepTime is how long a step may take to end; 0 means 5 minutes.
	StepTime time.Duration
	// Growth is by how many letters the queue may grow during the run, such as by jobs
	// that fail again; negative means any number.
	Growth int
	// CountLag is how long a deletion may take to show in the numbers of the queue: in AWS
	// about a minute. 0 means that it shows at once.
	CountLag time.Duration
	// Conditions end the run. They are looked at before the first letter, and every
	// CheckEvery, 0 means every ten seconds.
	Conditions []Condition
	CheckEvery time.Duration
	// Observe is called with what became of each letter, in order. Nil means no calls.
	Observe func(Event)
}

// Event is what became of a letter.
type Event struct {
	Item *Item
	// State is StateDeleted if all went well; StateSent if the message was sent and the
	// letter could not be deleted; StateSending if it is not known whether the message was
	// sent; StateRefused if it was not sent.
	State     State
	MessageID string
	Err       error
}

// StoppedError says why a run ended before its end. It can be resumed.
type StoppedError struct{ Reason string }

// Error returns the reason.
func (e *StoppedError) Error() string { return "stopped: " + e.Reason }

// Run carries out a plan. All fields are required.
type Run struct {
	Queue   *deadletters.Queue
	Hold    *deadletters.Hold
	Spool   *Spool
	Journal *Journal
	Lock    *Lock
	Options Options

	next     time.Time       // when the rate allows the next letter
	total    int             // letters in the queue at the beginning
	deleted  []deletion      // what the run has deleted, in order
	checked  time.Time       // last look at the conditions
	stopped  map[string]bool // message groups of FIFO queues with a letter that was not sent
	silences int             // calls in a row without an answer
	taken    map[string]bool // ids of messages that were confirmed
}

// deletion is a number of letters that were deleted at a time.
type deletion struct {
	at time.Time
	n  int
}

// maxSilences is how many calls in a row without an answer end a run.
const maxSilences = 3

// Do sends the items, which must be held and in the spool, and deletes those that were
// confirmed. It returns nil when all were tried, whatever became of each. Its errors are a
// [*StoppedError], a [*BusyError], and those of the client and of the journal. Nothing
// after the error was tried.
func (r *Run) Do(ctx context.Context, items []*Item) error {
	if err := r.begin(ctx, items); err != nil {
		return err
	}
	for step := 0; len(items) > 0; step++ {
		n := len(items)
		if step < len(r.Options.Steps) {
			n = min(n, r.Options.Steps[step])
		}
		if err := r.step(ctx, items[:n]); err != nil {
			return err
		}
		if n < len(items) && step < len(r.Options.Steps) {
			if err := r.follow(ctx, items[:n]); err != nil {
				return err
			}
		}
		items = items[n:]
	}
	return nil
}

// begin writes the plan, and looks at the conditions for the first time.
func (r *Run) begin(ctx context.Context, items []*Item) error {
	if r.stopped == nil {
		r.stopped = map[string]bool{}
		count, err := r.Queue.Recount(ctx)
		if err != nil {
			return err
		}
		r.total = count.Total()
	}
	lines := make([]Line, len(items))
	for i, item := range items {
		lines[i] = Line{
			State: StatePlanned, ID: item.Letter.ID, Original: item.Letter.OriginalID(), Job: item.Letter.JobID(),
			Target: item.Target.URL, DedupID: item.DedupID, Protected: item.protected(), Edited: item.Body != nil,
		}
	}
	if err := r.Journal.Write(lines...); err != nil {
		return err
	}
	r.checked = time.Time{}
	return r.tick(ctx)
}

// protected reports whether the ledger makes a second copy of the message a duplicate.
func (i *Item) protected() bool {
	return i.Letter.Record.Verdict && i.Letter.JobID() != "" && i.Outlook != OutlookUnprotected &&
		i.Outlook != OutlookUnknown
}

// outcomePause is the pause between two looks at the outcome of a step.
const outcomePause = 2 * time.Second

// follow waits until the jobs of a step have ended well.
func (r *Run) follow(ctx context.Context, items []*Item) error {
	limit := r.Options.StepTime
	if limit == 0 {
		limit = 5 * time.Minute
	}
	for end := time.Now().Add(limit); ; {
		pending, reason, err := r.Options.Outcome(ctx, items)
		if err != nil || reason != "" {
			return stopped(reason, err)
		}
		if pending == 0 {
			return nil
		}
		if time.Now().After(end) {
			return &StoppedError{Reason: fmt.Sprintf("%d of %s of this step had not ended after %s",
				pending, deadletters.Number(len(items), "job", "jobs"), limit)}
		}
		if err := r.pause(ctx, outcomePause); err != nil {
			return err
		}
	}
}

// pause waits, and keeps the letters and the lock meanwhile.
func (r *Run) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.tick(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tick keeps the letters hidden and the lock, and looks at the conditions when it is time.
func (r *Run) tick(ctx context.Context) error {
	if err := r.Hold.Extend(ctx); err != nil {
		return err
	}
	if err := r.Lock.Renew(ctx); err != nil {
		return err
	}
	every := r.Options.CheckEvery
	if every == 0 {
		every = 10 * time.Second
	}
	if time.Since(r.checked) < every {
		return nil
	}
	r.checked = time.Now()
	if reason, err := r.grown(ctx); err != nil || reason != "" {
		return stopped(reason, err)
	}
	for _, condition := range r.Options.Conditions {
		if reason, err := condition(ctx); err != nil || reason != "" {
			return stopped(reason, err)
		}
	}
	return nil
}

func stopped(reason string, err error) error {
	if err != nil {
		return err
	}
	return &StoppedError{Reason: reason}
}

// grown returns a reason to stop if letters came that are not there by this run.
func (r *Run) grown(ctx context.Context) (string, error) {
	if r.Options.Growth < 0 {
		return "", nil
	}
	count, err := r.Queue.Recount(ctx)
	if err != nil {
		return "", err
	}
	gone, shown := 0, time.Now().Add(-r.Options.CountLag)
	for _, d := range r.deleted {
		if !d.at.After(shown) {
			gone += d.n
		}
	}
	if more := count.Total() - (r.total - gone); more > r.Options.Growth {
		return fmt.Sprintf("%s came into %s", deadletters.Number(more, "new letter", "new letters"), r.Queue.Name), nil
	}
	return "", nil
}

// step sends items in packs.
func (r *Run) step(ctx context.Context, items []*Item) error {
	for len(items) > 0 {
		if err := r.wait(ctx); err != nil {
			return err
		}
		pack, entries, err := r.pack(items)
		if err != nil {
			return err
		}
		items = items[len(pack):]
		if err := r.send(ctx, pack, entries); err != nil {
			return err
		}
	}
	return nil
}

// longestPause is how long a run waits at a time before it looks at its letters and
// conditions.
const longestPause = 5 * time.Second

// wait waits until the rate allows the next pack.
func (r *Run) wait(ctx context.Context) error {
	for {
		if err := errors.Join(ctx.Err(), r.tick(ctx)); err != nil {
			return err
		}
		left := time.Until(r.next)
		if left <= 0 {
			return nil
		}
		if err := r.pause(ctx, min(left, longestPause)); err != nil {
			return err
		}
	}
}

// paced notes that letters were sent, and when the rate allows the next ones. A pause of
// the run is not made up for.
func (r *Run) paced(n int) {
	if r.Options.Rate > 0 {
		d := time.Duration(float64(n) / r.Options.Rate * float64(time.Second))
		r.next = time.Now().Add(d)
	}
}

// perCall is how many letters go in a call: with a low rate few, so that they do not come
// in bursts.
func (r *Run) perCall() int {
	if r.Options.Rate <= 0 {
		return sqscall.MaxEntries
	}
	return min(max(1, int(r.Options.Rate/10)), sqscall.MaxEntries)
}

// pack takes items for one call from the front: of one target, within the size of a call,
// and for a FIFO queue no two of one message group, of which SQS might take only the
// second.
func (r *Run) pack(items []*Item) ([]*Item, []types.SendMessageBatchRequestEntry, error) {
	var entries []types.SendMessageBatchRequestEntry
	size, groups := 0, map[string]bool{}
	for _, item := range items {
		if len(entries) == r.perCall() || item.Target != items[0].Target ||
			item.Target.FIFO && groups[item.Letter.Group] {
			break
		}
		m, err := r.message(item)
		if err != nil {
			return nil, nil, err
		}
		if size += m.Size(); len(entries) > 0 && size > deadletters.MaxBytes {
			break
		}
		groups[item.Letter.Group] = true
		entries = append(entries, m.Entry(item.Target.FIFO, item.DedupID))
	}
	return items[:len(entries)], entries, nil
}

// message returns the message as it is to be sent.
func (r *Run) message(item *Item) (*deadletters.Message, error) {
	m, err := r.Spool.Get(item.Letter.ID)
	if err != nil {
		return nil, err
	}
	if item.Body != nil {
		m.Body = *item.Body
	}
	moved := item.Letter.Kind == deadletters.KindMoved
	switch {
	case r.Options.Plain, moved && item.Letter.Entry == nil:
		m = m.Plain()
	case moved:
		// The ledger knows the message, so its function is written with sqsafe.
		m = m.Linked(item.Target.MaxBytes)
	}
	return m, nil
}

// send announces the letters, sends them, notes what was confirmed, and deletes that.
func (r *Run) send(ctx context.Context, pack []*Item, entries []types.SendMessageBatchRequestEntry) error {
	pack, entries = r.behind(pack, entries)
	if len(pack) == 0 {
		return nil
	}
	if err := r.Journal.Write(Line{State: StateSending, Time: time.Now().UTC(), IDs: ids(pack)}); err != nil {
		return err
	}
	// A call that was made is waited for, so that its answer is known.
	answers := Send(context.WithoutCancel(ctx), r.Queue.Client(), pack[0].Target.URL, entries)
	r.paced(len(pack))
	r.refuseRepeated(answers)
	var confirmed []*Item
	lines := make([]Line, len(pack))
	for i, item := range pack {
		lines[i] = lineOf(item, &answers[i])
		if lines[i].State == StateSent {
			confirmed = append(confirmed, item)
		} else if item.Target.FIFO {
			r.stopped[item.Letter.Group] = true
		}
	}
	if err := r.Journal.Write(lines...); err != nil {
		return err // the letters stay, and the journal says that they may be sent
	}
	failed := r.remove(ctx, confirmed)
	r.tell(pack, answers, failed)
	return r.answered(answers)
}

// refuseRepeated marks messages that SQS has confirmed with the id of another one: it took them
// for repetitions, and has dropped them.
func (r *Run) refuseRepeated(answers []Answer) {
	if r.taken == nil {
		r.taken = map[string]bool{}
	}
	for i := range answers {
		a := &answers[i]
		if a.Err == nil && r.taken[a.MessageID] {
			a.Err = fmt.Errorf("%w: SQS took it for a repetition of message %s", ErrUnconfirmed, a.MessageID)
		}
		r.taken[a.MessageID] = true
	}
}

// behind leaves out letters of message groups with an earlier letter that was not sent.
func (r *Run) behind(
	pack []*Item, entries []types.SendMessageBatchRequestEntry,
) (kept []*Item, keptEntries []types.SendMessageBatchRequestEntry) {
	for i, item := range pack {
		if !item.Target.FIFO || !r.stopped[item.Letter.Group] {
			kept, keptEntries = append(kept, item), append(keptEntries, entries[i])
			continue
		}
		r.observe(Event{Item: item, State: StateRefused, Err: errBehind})
	}
	return kept, keptEntries
}

var errBehind = errors.New("an earlier letter of its message group was not sent")

func ids(items []*Item) []string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.Letter.ID
	}
	return list
}

func lineOf(item *Item, a *Answer) Line {
	line := Line{State: StateSent, Time: time.Now().UTC(), ID: item.Letter.ID, MessageID: a.MessageID}
	if a.Err != nil {
		line.State, line.Error = StateRefused, a.Err.Error()
		if errors.Is(a.Err, ErrUnconfirmed) {
			line.State = StateSending
		}
	}
	return line
}

// remove deletes letters whose messages are confirmed, and returns the errors of those that
// could not be deleted, by id.
func (r *Run) remove(ctx context.Context, items []*Item) map[string]error {
	failed := map[string]error{}
	if len(items) == 0 {
		return failed
	}
	list := ids(items)
	var lines []Line
	for i, err := range r.Hold.Delete(context.WithoutCancel(ctx), list) {
		if err != nil {
			failed[list[i]] = err
			continue
		}
		lines = append(lines, Line{State: StateDeleted, Time: time.Now().UTC(), ID: list[i]})
	}
	r.deleted = append(r.deleted, deletion{time.Now(), len(lines)})
	// If this cannot be written, a resumed run deletes the letters again, which is no harm.
	_ = r.Journal.Write(lines...)
	return failed
}

// tell calls Observe for each letter.
func (r *Run) tell(pack []*Item, answers []Answer, failed map[string]error) {
	for i, item := range pack {
		e := Event{Item: item, State: StateDeleted, MessageID: answers[i].MessageID, Err: answers[i].Err}
		switch {
		case errors.Is(e.Err, ErrUnconfirmed):
			e.State = StateSending
		case e.Err != nil:
			e.State = StateRefused
		case failed[item.Letter.ID] != nil:
			e.State, e.Err = StateSent, failed[item.Letter.ID]
		}
		r.observe(e)
	}
}

func (r *Run) observe(e Event) {
	if r.Options.Observe != nil {
		r.Options.Observe(e)
	}
}

// answered ends the run when a whole call was refused, or after some calls in a row without
// an answer.
func (r *Run) answered(answers []Answer) error {
	first := answers[0].Err
	whole := first != nil && !isEntry(first)
	for _, a := range answers {
		whole = whole && a.Err != nil && a.Err.Error() == first.Error()
	}
	if !whole {
		r.silences = 0
		return nil
	}
	if r.silences++; errors.Is(first, ErrUnconfirmed) && r.silences < maxSilences {
		return nil
	}
	return first
}
