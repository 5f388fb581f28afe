package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Operation is a replay from the first look at the queue to the end. It is used once, by
// one goroutine.
type Operation struct {
	Queue *deadletters.Queue
	// Table is the ledger; nil if there is none.
	Table *ledger.Table
	// Filter selects the letters.
	Filter deadletters.Filter
	// To is the queue for all letters; nil sends each to its source.
	To *Target
	// Body replaces the body of the letters; nil sends them as they are.
	Body *string
	// Read configures the look at the queue.
	Read deadletters.ReadOptions
	// Directory is where the journal is written.
	Directory string
	// Who and Reason go into the journal.
	Who, Reason string
	Options     Options
	// Unlocked is called before anything is sent if the lock of the queue is denied, so that
	// nobody else is kept away; nil means no call.
	Unlocked func(denied error)
	// Waiting is called before a resumed run waits for letters that are hidden, with the time
	// at which they are visible again at the latest; nil means no call.
	Waiting func(until time.Time)

	run       string
	cutoff    time.Time       // letters that arrived later are not part of the run
	attempted map[string]bool // letters that the run has tried, by id
	sent      map[string]bool // messages that the run has sent, by id
	resent    map[string]bool // messages that it has sent, or may have, by their original ids
	targets   map[string]*Target
	fallback  *Target
	content   Content
	summary   Summary
	wrap      func(*Journal) // for tests
}

// Pass is a portion of a replay: the letters of a standard queue are one, those of a FIFO
// queue, which shows ten of a group, can be many.
type Pass struct {
	Plan    *Plan
	Reading *deadletters.Reading

	spool *Spool
}

// Close makes the letters visible again.
func (p *Pass) Close(ctx context.Context) error {
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return errors.Join(p.Reading.Hold.Release(releasing), p.spool.Close())
}

// releaseTime bounds the calls after the end of a run.
const releaseTime = 10 * time.Second

// Summary counts what became of the letters.
type Summary struct {
	// Sent messages were confirmed, and their letters deleted.
	Sent int `json:"sent"`
	// Undeleted messages were confirmed, and their letters are still there.
	Undeleted int `json:"undeleted"`
	// Refused messages were not sent.
	Refused int `json:"refused"`
	// Uncertain messages may have been sent. Their letters are still there.
	Uncertain int `json:"uncertain"`
	// Untried letters come after the end of the run.
	Untried int `json:"untried"`
	// Missing letters are those of an earlier run that are not in the queue.
	Missing int `json:"missing,omitempty"`
}

// Failed reports whether a letter was not sent, or was sent and is still there.
func (s Summary) Failed() bool { return s.Undeleted+s.Refused+s.Uncertain+s.Untried+s.Missing > 0 }

// Run returns the id of the run.
func (o *Operation) Run() string {
	if o.run == "" {
		o.run = time.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(rand.Text()[:6])
	}
	return o.run
}

// Path returns the place of the journal.
func (o *Operation) Path() string {
	return filepath.Join(o.Directory, "replay-"+o.Queue.Name+"-"+o.Run()+".jsonl")
}

// Look reads the queue, asks the ledger, and plans. The letters of the plan are held until
// the pass is closed, all others are visible again.
func (o *Operation) Look(ctx context.Context) (*Pass, error) {
	if o.cutoff.IsZero() {
		o.cutoff = time.Now()
	}
	return o.look(ctx, func(l *deadletters.Letter) bool {
		return !o.attempted[l.ID] && !o.died(l) && o.Filter.Match(l) && (!o.Queue.FIFO || o.wasThere(l))
	})
}

// died reports whether the letter is of a message that the run has sent: its job is dead
// again, and the run does not send it once more.
func (o *Operation) died(l *deadletters.Letter) bool {
	return o.sent[l.ID] || o.sent[l.Record.MessageID] || o.sent[l.Record.DeliveredID]
}

// wasThere reports whether a letter was in the queue when the operation began. One of a job
// that was sent back and has died again arrives later, if only a moment.
func (o *Operation) wasThere(l *deadletters.Letter) bool {
	return l.Arrived.Before(o.cutoff) || !o.resent[l.OriginalID()] && l.Arrived.Before(o.cutoff.Add(clockMargin))
}

func (o *Operation) look(ctx context.Context, match func(*deadletters.Letter) bool) (*Pass, error) {
	spool, err := NewSpool()
	if err != nil {
		return nil, err
	}
	var letters []*deadletters.Letter
	var spooling error
	reading, err := o.Queue.Read(ctx, o.Read, func(m *deadletters.Message) bool {
		l := deadletters.Decode(o.Queue, m)
		if match(l) {
			spooling = spool.Put(m)
			o.hash(l)
			letters = append(letters, l.Slim())
		}
		return spooling == nil
	})
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	pass := &Pass{Reading: reading, spool: spool}
	if err := errors.Join(spooling, o.plan(ctx, pass, letters)); err != nil {
		return nil, errors.Join(err, pass.Close(ctx))
	}
	return pass, nil
}

// hash keeps the hash of a letter's payload, unless that may be in an envelope.
func (o *Operation) hash(l *deadletters.Letter) {
	if o.content == nil {
		o.content = Content{}
	}
	if !l.Enveloped() {
		o.content[l.ID] = idem.Hash{}.Validation(l.Message.Body)
	}
}

func (o *Operation) plan(ctx context.Context, pass *Pass, letters []*deadletters.Letter) error {
	wanted := map[string]bool{}
	for _, l := range letters {
		wanted[l.ID] = true
	}
	if err := pass.Reading.Hold.ReleaseOthers(ctx, func(id string) bool { return wanted[id] }); err != nil {
		return err
	}
	if o.Table != nil {
		// What is not reachable is in the letters, and in the plan.
		_ = deadletters.Join(ctx, o.Table, letters, deadletters.JoinOptions{})
	}
	if err := o.findTargets(ctx, letters); err != nil {
		return err
	}
	pass.Plan = o.newPlan(letters)
	return nil
}

func (o *Operation) newPlan(letters []*deadletters.Letter) *Plan {
	return NewPlan(letters, PlanOptions{
		Run: o.Run(), FIFO: o.Queue.FIFO, Targets: o.targets, To: o.To, Default: o.fallback, Body: o.Body,
		Content: o.content, Now: time.Now(),
	})
}

// findTargets looks the source queues up. The only source queue of the dead-letter queue
// stands for sources that are not known.
func (o *Operation) findTargets(ctx context.Context, letters []*deadletters.Letter) error {
	if o.To != nil {
		return nil
	}
	if o.targets == nil {
		o.targets = map[string]*Target{}
		sources, err := o.Queue.Sources(ctx)
		if err == nil && len(sources) == 1 {
			if o.fallback, err = OpenTarget(ctx, o.Queue.Client(), sources[0]); err != nil {
				return err
			}
			o.targets[o.fallback.ARN] = o.fallback
		}
	}
	for _, l := range letters {
		if _, known := o.targets[l.Source]; known || l.Source == "" {
			continue
		}
		target, err := findTarget(ctx, o.Queue.Client(), l.Source)
		if err != nil {
			return fmt.Errorf("source queue %s: %w", l.SourceName(), err)
		}
		o.targets[l.Source] = target
	}
	return nil
}

// Execute carries out the first pass, and for a FIFO queue those behind it. It closes
// first. Its errors are those of [Run.Do].
func (o *Operation) Execute(ctx context.Context, first *Pass) (Summary, error) {
	o.summary.Untried = len(first.Plan.Sendable())
	run, err := o.begin(ctx, first, func() (*Journal, error) {
		return CreateJournal(o.Path(), Header{
			Run: o.Run(), Time: time.Now().UTC(), Queue: o.Queue.ARN, URL: o.Queue.URL, Who: o.Who, Reason: o.Reason,
			HoldSeconds: int(first.Reading.Hold.Timeout().Seconds()), Plain: o.Options.Plain,
		})
	})
	if err != nil {
		return o.summary, errors.Join(err, first.Close(ctx))
	}
	err = o.passes(ctx, run, first)
	return o.summary, o.end(ctx, run, err)
}

// begin locks the queue and opens the journal.
func (o *Operation) begin(ctx context.Context, first *Pass, open func() (*Journal, error)) (*Run, error) {
	lock, err := Acquire(ctx, o.Queue, o.Run(), o.Who)
	if err != nil {
		return nil, err
	}
	if lock.Denied != nil && o.Unlocked != nil {
		o.Unlocked(lock.Denied)
	}
	journal, err := open()
	if err != nil {
		return nil, errors.Join(err, lock.Release(context.WithoutCancel(ctx)))
	}
	if o.wrap != nil {
		o.wrap(journal)
	}
	options := o.Options
	options.Observe = o.observe
	return &Run{
		Queue: o.Queue, Hold: first.Reading.Hold, Spool: first.spool, Journal: journal, Lock: lock, Options: options,
	}, nil
}

func (o *Operation) observe(e Event) {
	o.summary.Untried--
	switch e.State {
	case StateDeleted:
		o.summary.Sent++
	case StateSent:
		o.summary.Undeleted++
	case StateSending:
		o.summary.Uncertain++
	case StatePlanned, StateRefused, StateEnd:
		o.summary.Refused++
	}
	if o.attempted == nil {
		o.attempted, o.sent, o.resent = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	o.attempted[e.Item.Letter.ID] = true
	if e.MessageID != "" {
		o.sent[e.MessageID] = true
	}
	if e.State == StateDeleted || e.State == StateSent || e.State == StateSending {
		o.resent[e.Item.Letter.OriginalID()] = true
	}
	if o.Options.Observe != nil {
		o.Options.Observe(e)
	}
}

// passes sends the letters of a pass, and of a FIFO queue those that are to be seen when
// they are deleted.
func (o *Operation) passes(ctx context.Context, run *Run, pass *Pass) error {
	for {
		items := pass.Plan.Sendable()
		err := run.Do(ctx, items)
		err = errors.Join(err, pass.Close(ctx))
		if err != nil || !o.Queue.FIFO || len(items) == 0 {
			return err
		}
		if o.Queue.Count, err = o.Queue.Recount(ctx); err != nil {
			return err
		}
		if pass, err = o.Look(ctx); err != nil {
			return err
		}
		run.Hold, run.Spool = pass.Reading.Hold, pass.spool
		o.summary.Untried += len(pass.Plan.Sendable())
	}
}

// end writes the end of the run, and gives the lock back.
func (o *Operation) end(ctx context.Context, run *Run, err error) error {
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	last := Line{State: StateEnd, Time: time.Now().UTC()}
	if err != nil {
		last.Error = err.Error()
	}
	return errors.Join(err, run.Journal.Write(last), run.Journal.Close(), run.Lock.Release(releasing))
}

// Resume carries on with the run of a journal. Letters that may have been sent, and whose
// second message might take effect again, stay in the queue unless again is true. told is
// called with what is left to do before anything is done; nil means no call.
func (o *Operation) Resume(ctx context.Context, path string, again bool, told func(Rest)) (Summary, error) {
	past, err := ReadJournal(path)
	if err != nil {
		return o.summary, err
	}
	if past.Header.URL != o.Queue.URL {
		return o.summary, fmt.Errorf("journal %s is of queue %s", path, past.Header.URL)
	}
	if len(past.Order) == 0 {
		return o.summary, fmt.Errorf("journal %s: its run was killed before it had sent anything; start the replay again",
			path)
	}
	o.run, o.Options.Plain = past.Header.Run, past.Header.Plain
	pass, rest, err := o.found(ctx, past, again)
	if err != nil {
		return o.summary, err
	}
	if told != nil {
		told(rest)
	}
	o.summary = Summary{
		Untried: len(rest.Send), Uncertain: len(rest.Uncertain), Missing: len(rest.Missing), Refused: len(rest.Refused),
	}
	run, err := o.begin(ctx, pass, func() (*Journal, error) { return AppendJournal(path) })
	if err != nil {
		return o.summary, errors.Join(err, pass.Close(ctx))
	}
	failed := run.remove(ctx, rest.Delete)
	run.deleted = nil // the run counts from now on
	o.summary.Undeleted += len(failed)
	o.summary.Sent += len(rest.Delete) - len(failed)
	err = errors.Join(run.Do(ctx, rest.Send), pass.Close(ctx))
	return o.summary, o.end(ctx, run, err)
}

// found reads the queue until all letters of the run are there, or none of them can be
// hidden any more.
func (o *Operation) found(ctx context.Context, past *Past, again bool) (*Pass, Rest, error) {
	for told := false; ; told = true {
		pass, err := o.look(ctx, past.Knows)
		if err != nil {
			return nil, Rest{}, err
		}
		rest := past.Resume(pass.Plan, again)
		nobody := pass.Reading.Hidden == 0 && time.Since(past.Last) > time.Minute
		if len(rest.Missing) == 0 || nobody || time.Now().After(past.Visible()) {
			return pass, rest, nil
		}
		if err := pass.Close(ctx); err != nil {
			return nil, Rest{}, err
		}
		if !told && o.Waiting != nil {
			o.Waiting(past.Visible())
		}
		timer := time.NewTimer(min(longestPause, time.Until(past.Visible())+time.Second))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, Rest{}, ctx.Err()
		}
		if o.Queue.Count, err = o.Queue.Recount(ctx); err != nil {
			return nil, Rest{}, err
		}
	}
}

// Message returns the message of an item as it was read.
func (p *Pass) Message(i *Item) (*deadletters.Message, error) { return p.spool.Get(i.Letter.ID) }

// Edit replaces the body of the letters of a pass, and plans again.
func (o *Operation) Edit(p *Pass, body string) error {
	o.Body = &body
	letters := make([]*deadletters.Letter, len(p.Plan.Items))
	for i, item := range p.Plan.Items {
		m, err := p.Message(item)
		if err != nil {
			return err
		}
		letters[i] = item.Letter
		letters[i].Size += len(body) - len(m.Body)
	}
	p.Plan = o.newPlan(letters)
	return nil
}
