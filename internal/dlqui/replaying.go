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
		err = fmt.Errorf("%s have this id; edit one letter", deadletters.Number(n, "letter", "letters"))
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
	tracker   *replay.Tracker
}

// startReplay starts the replay of a selection.
func (p *Pages) startReplay(ctx context.Context, sel *selection, how sending) (*run, error) {
	o := p.operation(sel.shelf, sel.chosen())
	r := &replaying{
		run:   &run{ID: o.Run(), Kind: kindReplay, Why: how.why, Shelf: sel.shelf},
		pages: p, selection: sel, sending: how, operation: o,
		tracker: &replay.Tracker{Table: o.Table, Queue: o.Queue, Read: o.Read},
	}
	o.Reason = how.why
	o.Options = replay.Options{
		Rate: how.rate, Steps: how.steps, Outcome: r.step, Observe: r.event, Growth: p.options.Growth,
	}
	return r.run, p.runs.start(ctx, r.run, r.work)
}

// work is the run.
func (r *replaying) work(ctx context.Context) {
	sum, err := r.replay(ctx)
	problem := r.problem(sum, err)
	r.Shelf.vacate()
	if len(r.tracker.Jobs()) > 0 && r.Shelf.Table != nil && ctx.Err() == nil {
		r.update(func(s *status) { s.Phase, s.Problem = phaseFollowing, problem })
		err := r.tracker.Wait(ctx, followTime, r.show)
		if err != nil && ctx.Err() == nil && problem == "" {
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
	if r.tracker.Table != nil && r.pages.options.Growth >= 0 {
		o.Options.Conditions = append(o.Options.Conditions, r.tracker.Bounced(r.pages.options.Growth))
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
	r.tracker.Observe(e)
}

// step looks whether the jobs of a step have ended.
func (r *replaying) step(ctx context.Context, items []*replay.Item) (pending int, reason string, err error) {
	pending, reason, err = r.tracker.Step(ctx, items)
	r.show(r.tracker.Outcomes())
	return pending, reason, err
}

// followTime is for how long jobs are followed.
const followTime = 10 * time.Minute

// show notes the outcomes for the pages.
func (r *replaying) show(n replay.Outcomes) {
	var rows []jobOutcome
	for _, f := range r.tracker.Jobs() {
		if f.Outcome != replay.OutcomeDone && len(rows) < maxNotes {
			rows = append(rows, jobOutcome{f.Item.Letter.ID, f.JobID(), f.Outcome, f.Reason})
		}
	}
	r.update(func(s *status) { s.Outcomes, s.Jobs = n, rows })
}
