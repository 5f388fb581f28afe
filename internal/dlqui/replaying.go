package dlqui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// operation returns a replay of letters of the queue.
func (p *Pages) operation(s *shelf, f deadletters.Filter) *replay.Operation {
	q := *s.Queue.Queue
	return &replay.Operation{
		Queue: &q, Table: s.Table, Filter: f, Read: s.read, Directory: p.options.Directory, Who: p.options.Who,
	}
}

// plan looks what a replay of the letters would do. The letters are visible again
// afterwards.
func (p *Pages) plan(ctx context.Context, sel *selection) (*replay.Pass, error) {
	s := sel.shelf
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	pass, err := p.planned(ctx, p.operation(s, sel.filter), sel.body)
	if err != nil {
		return nil, err
	}
	for _, i := range pass.Plan.Items {
		sel.ids = append(sel.ids, i.Letter.ID)
	}
	sel.tally = pass.Plan.Tally()
	return pass, pass.Close(ctx)
}

// planned looks at the queue and plans, with an edited body if there is one.
func (p *Pages) planned(ctx context.Context, o *replay.Operation, body *string) (*replay.Pass, error) {
	var err error
	if o.Queue.Count, err = o.Queue.Recount(ctx); err != nil {
		return nil, err
	}
	pass, err := o.Look(ctx)
	if err != nil || body == nil {
		return pass, err
	}
	if n := len(pass.Plan.Items); n != 1 {
		err = fmt.Errorf("%s have this id; edit one letter", count(n, "letter", "letters"))
	} else {
		err = o.Edit(pass, *body)
	}
	if err != nil {
		return nil, errors.Join(err, pass.Close(ctx))
	}
	return pass, nil
}

// replaying is a replay that is under way, in its goroutine.
type replaying struct {
	*run
	pages     *Pages
	selection *selection
	sending   sending
	operation *replay.Operation
	// followed are the jobs whose letters were sent, in order, and by item.
	followed []*replay.Followed
	byItem   map[*replay.Item]*replay.Followed
}

// startReplay starts the replay of a selection.
func (p *Pages) startReplay(ctx context.Context, sel *selection, how sending) (*run, error) {
	o := p.operation(sel.shelf, sel.chosen())
	r := &replaying{
		run:   &run{ID: o.Run(), Kind: kindReplay, Why: how.why, Shelf: sel.shelf},
		pages: p, selection: sel, sending: how, operation: o, byItem: map[*replay.Item]*replay.Followed{},
	}
	o.Reason = how.why
	o.Options = replay.Options{
		Rate: how.rate, Steps: how.steps(), Outcome: r.outcome, Observe: r.event, Growth: p.options.Growth,
	}
	return r.run, p.runs.start(ctx, r.run, r.work)
}

// work is the run.
func (r *replaying) work(ctx context.Context) {
	sum, err := r.replay(ctx)
	problem := r.problem(sum, err)
	r.Shelf.vacate()
	if len(r.followed) > 0 && r.Shelf.Table != nil && ctx.Err() == nil {
		r.update(func(s *status) { s.Phase, s.Problem = phaseFollowing, problem })
		if err := r.follow(ctx); err != nil && problem == "" {
			problem = r.pages.options.explain(r.Shelf.Queue, err)
		}
	}
	r.end(problem)
}

// replay sends the letters, and writes the audit line.
func (r *replaying) replay(ctx context.Context) (replay.Summary, error) {
	o := r.operation
	if build := r.pages.options.Conditions; build != nil {
		var err error
		if o.Options.Conditions, err = build(ctx, r.Shelf.Queue); err != nil {
			return replay.Summary{}, err
		}
	}
	pass, err := r.pages.planned(ctx, o, r.selection.body)
	if err != nil {
		return replay.Summary{}, err
	}
	tally := pass.Plan.Tally()
	if tally != r.selection.tally {
		return replay.Summary{}, errors.Join(errChanged, pass.Close(ctx))
	}
	r.update(func(s *status) {
		s.Phase, s.File, s.Total = phaseSending, o.Path(), len(pass.Plan.Sendable())
		s.Summary.Untried = s.Total
	})
	sum, err := o.Execute(ctx, pass)
	sum.Refused += tally.Refused
	deed := Deed{
		Action: kindReplay, Queue: r.Shelf.Queue, Letters: sum.Sent + sum.Undeleted, Failed: err != nil || sum.Failed(),
		Run: o.Run(), File: o.Path(), Why: r.Why,
	}
	return sum, errors.Join(err, r.pages.audit(deed))
}

// problem notes the summary, and returns why not all was done.
func (r *replaying) problem(sum replay.Summary, err error) string {
	r.update(func(s *status) { s.Summary = sum })
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped; sqsafe dlq replay --resume carries on with the journal"
	case err != nil:
		return r.pages.options.explain(r.Shelf.Queue, err)
	case sum.Failed():
		return "not all letters were sent and deleted"
	}
	return ""
}

// event notes what became of a letter.
func (r *replaying) event(e replay.Event) {
	word := ""
	r.update(func(s *status) {
		s.Summary.Untried--
		if s.Summary.Untried < 0 { // a FIFO queue shows more letters when some are gone
			s.Total, s.Summary.Untried = s.Total+1, 0
		}
		switch e.State {
		case replay.StateDeleted:
			s.Summary.Sent++
		case replay.StateSent:
			s.Summary.Undeleted++
			word = "sent, and still there"
		case replay.StateSending:
			s.Summary.Uncertain++
			word = "perhaps sent, and still there"
		case replay.StatePlanned, replay.StateRefused, replay.StateEnd:
			s.Summary.Refused++
			word = "not sent"
		}
	})
	if word != "" {
		text := e.Item.Letter.ID + ": " + word
		if e.Err != nil {
			text += ": " + r.pages.options.explain(r.Shelf.Queue, e.Err)
		}
		r.note(text)
	}
	if e.State == replay.StateDeleted || e.State == replay.StateSent {
		f := replay.Follow([]*replay.Item{e.Item})[0]
		r.followed, r.byItem[e.Item] = append(r.followed, f), f
	}
}

// outcome looks whether the jobs of the canary have ended.
func (r *replaying) outcome(ctx context.Context, items []*replay.Item) (pending int, reason string, err error) {
	var jobs []*replay.Followed
	for _, i := range items {
		if f := r.byItem[i]; f != nil {
			jobs = append(jobs, f)
		}
	}
	if missing := len(items) - len(jobs); missing > 0 {
		return 0, fmt.Sprintf("%d of the %d letters of the canary were not sent", missing, len(items)), nil
	}
	if r.Shelf.Table == nil {
		return 0, "there is no ledger that tells how the jobs of the canary end", nil
	}
	pending, err = replay.Look(ctx, r.Shelf.Table, jobs)
	r.show()
	return pending, replay.Failed(jobs), err
}

const (
	// followPause is the pause between two looks at the ledger, and followTime for how long
	// jobs are followed.
	followPause = 2 * time.Second
	followTime  = 10 * time.Minute
)

// follow looks for the outcomes of the jobs until all have ended.
func (r *replaying) follow(ctx context.Context) error {
	for end := time.Now().Add(followTime); ; {
		pending, err := replay.Look(ctx, r.Shelf.Table, r.followed)
		if err != nil {
			return err
		}
		r.show()
		if pending == 0 || time.Now().After(end) {
			return nil
		}
		timer := time.NewTimer(followPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// show notes the outcomes for the pages.
func (r *replaying) show() {
	var n outcomes
	var rows []jobOutcome
	for _, f := range r.followed {
		switch f.Outcome {
		case replay.OutcomeDone:
			n.Done++
			continue
		case replay.OutcomeDeadAgain:
			n.DeadAgain++
		case replay.OutcomeUnknown:
			n.Unknown++
		default:
			n.Pending++
		}
		if len(rows) == maxNotes {
			continue
		}
		row := jobOutcome{ID: f.Item.Letter.ID, Job: f.Item.Letter.JobID(), Outcome: f.Outcome}
		if f.Outcome == replay.OutcomeDeadAgain && f.Entry != nil && f.Entry.Verdict != nil {
			row.Reason = f.Entry.Verdict.Class + " " + f.Entry.Verdict.Reason
		}
		rows = append(rows, row)
	}
	r.update(func(s *status) { s.Outcomes, s.Jobs = n, rows })
}
