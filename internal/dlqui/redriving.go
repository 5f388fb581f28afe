package dlqui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// maxRedriveRate is the most letters a second that SQS takes (reference of
// StartMessageMoveTask).
const maxRedriveRate = 500

type destination struct{ ARN, Name string }

type redriveContent struct {
	Destinations []destination
	Letters      int
	Rate         int
}

// redriving shows the form that lets SQS move all letters.
func (p *Pages) redriving(w http.ResponseWriter, r *http.Request, s *shelf) error {
	arns, err := replay.Destinations(r.Context(), s.Queue.Queue)
	if err != nil {
		return err
	}
	count, err := s.Recount(r.Context())
	if err != nil {
		return err
	}
	c := redriveContent{Letters: count.Visible, Rate: defaultRate}
	for _, arn := range arns {
		c.Destinations = append(c.Destinations, destination{arn, arn[strings.LastIndexByte(arn, ':')+1:]})
	}
	p.render(w, http.StatusOK, "redrive.html", &view{
		Title: "Let SQS move all letters", Shelf: s, Data: c, Busy: s.busy(), Trail: []crumb{{s.Name, path(s.Name, "", nil)}},
	})
	return nil
}

// redrive starts a move task.
func (p *Pages) redrive(w http.ResponseWriter, r *http.Request, s *shelf) error {
	if p.options.ReadOnly {
		return errReadOnly
	}
	rate, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("rate")))
	if err != nil || rate < 1 || rate > maxRedriveRate {
		return &problem{http.StatusBadRequest,
			fmt.Sprintf("letters per second: SQS takes 1 to %d; nothing was done: go back and correct it", maxRedriveRate)}
	}
	arns, err := replay.Destinations(r.Context(), s.Queue.Queue)
	if err != nil {
		return err
	}
	to := r.PostFormValue("to")
	switch {
	case !slices.Contains(arns, to):
		return &problem{http.StatusBadRequest, "choose one of the source queues; nothing was done"}
	case r.PostFormValue("accept") == "":
		return &problem{http.StatusBadRequest, "mark that you have read what a redrive does; nothing was done"}
	}
	run := &run{
		ID: newRunID(), Kind: kindRedrive, Why: strings.TrimSpace(r.PostFormValue("why")), Shelf: s,
	}
	work := func(ctx context.Context) { p.moveBySQS(ctx, run, to, rate) }
	return p.started(w, r, run, p.runs.start(r.Context(), run, work))
}

// newRunID returns an id for a run that has no journal.
func newRunID() string {
	return time.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(rand.Text()[:6])
}

// moveBySQS follows a move task. What ends the run ends the task.
func (p *Pages) moveBySQS(ctx context.Context, r *run, to string, rate int) {
	s := r.Shelf
	q := *s.Queue.Queue
	r.update(func(now *status) { now.Phase = phaseRedriving })
	redrive := &replay.Redrive{
		Queue: &q, Destination: to, Rate: rate, Who: p.options.Who,
		Observe: func(t *deadletters.Task) {
			r.update(func(now *status) { now.Total, now.Moved = int(t.ToMove), int(t.Moved) })
		},
	}
	task, err := redrive.Do(ctx)
	text := ""
	switch {
	case ctx.Err() != nil && task != nil:
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		text = "stopped; what was moved stays in the source queue"
		if err = q.CancelTask(stopping, task); err != nil {
			text = "the redrive goes on: " + p.options.explain(s.Queue, err)
		}
		err = context.Canceled
	case err != nil:
		text = p.options.explain(s.Queue, err)
	case task.Status != deadletters.TaskCompleted:
		text = strings.TrimSpace("SQS has ended it: " + strings.ToLower(task.Status) + " " + task.Failure)
		err = errors.New(text)
	}
	moved := 0
	if task != nil {
		moved = int(task.Moved)
	}
	auditErr := p.audit(Deed{
		Action: kindRedrive, Queue: s.Queue, Letters: moved, Failed: err != nil, Run: r.ID, Why: r.Why,
	})
	if auditErr != nil && text == "" {
		text = auditErr.Error()
	}
	s.vacate()
	r.end(text)
}
