package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// DLQRedrive is the subcommand that starts a move task of SQS and follows it.
type DLQRedrive struct {
	DLQTarget
	Queue string `arg:"" help:"The dead-letter queue."`
	Change
	To     string `placeholder:"QUEUE" help:"Where the letters go; the only source queue without it."`
	Rate   int    `placeholder:"PER_SECOND" default:"10" help:"Move no more letters than this in a second, 1 to 500 (${default})."` //nolint:lll // a struct tag is one line
	Cancel bool   `help:"Cancel the redrive that is under way; what was moved stays in the source queue."`
	Why    string `placeholder:"TEXT" help:"Why; it is written into the audit line."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Help returns the text below the flags.
func (d *DLQRedrive) Help() string {
	return dlqHelp + `

SQS moves all letters of the queue: it selects none, keeps no order, and stops for
nothing. sqsafe dlq replay does. A letter that a function has sent itself, with its
failure record, names no source to SQS: a redrive without a destination, which is
the default of the console, fails for it with CouldNotDetermineMessageSource. So a
destination is always given here. A signal ends the command, and not the redrive.`
}

// Validate refuses a rate that SQS refuses.
func (d *DLQRedrive) Validate() error {
	if d.Rate < 1 || d.Rate > 500 {
		return fmt.Errorf("--rate %d: SQS takes 1 to 500", d.Rate)
	}
	return d.DLQTarget.Validate()
}

// Run starts or cancels a redrive.
func (d *DLQRedrive) Run(ctx context.Context, streams Streams) error {
	s, err := d.open(ctx, d.Queue)
	if err != nil {
		return err
	}
	if d.Cancel {
		return d.cancel(ctx, streams, s)
	}
	destination, err := d.destination(ctx, s)
	if err != nil {
		return err
	}
	switch {
	case !d.Yes && s.Count.Total() == 0: // about: with --yes SQS is asked
		fmt.Fprintln(streams.Out, s.none(&deadletters.Reading{}))
		return nil
	case !d.Yes:
		fmt.Fprintf(streams.Out, "%s of %s would be moved to %s, %d a second; add --yes to do it\n",
			letterCount(s.Count.Visible), s.Name, lastPart(destination), d.Rate)
		return nil
	}
	line := newProgress(streams.Err, "redriving "+s.Name, s.Count.Visible)
	redrive := &replay.Redrive{
		Queue: s.Queue, Destination: destination, Rate: d.Rate, Who: who(),
		Unlocked: func(denied error) { s.unlocked(streams, denied) },
		Observe:  func(task *deadletters.Task) { line.steps(int(task.Moved) - line.done) },
	}
	task, err := redrive.Do(ctx)
	line.clear()
	moved := 0
	if task != nil {
		moved = int(task.Moved)
	}
	auditErr := d.audit(streams, auditLine{
		Action: "dlq redrive", Queue: s.ARN, Letters: moved,
		Failed: err != nil || task.Status != deadletters.TaskCompleted, Why: d.Why,
	})
	switch {
	case ctx.Err() != nil && task != nil:
		fmt.Fprintln(streams.Err, "sqsafe: interrupted; the redrive goes on, and --cancel ends it")
		err = errInterrupted
	case errors.Is(err, replay.ErrNoTask):
	case err != nil:
		err = s.explain(err)
	default:
		err = d.end(streams, s, task)
	}
	return errors.Join(err, auditErr)
}

// destination returns the ARN of the queue that gets the letters.
func (d *DLQRedrive) destination(ctx context.Context, s *session) (string, error) {
	if d.To != "" {
		found, client, err := d.findQueue(ctx, d.To)
		if err != nil {
			return "", err
		}
		target, err := replay.OpenTarget(ctx, client, found.URL)
		if err != nil {
			return "", d.explain(err, d.To)
		}
		return target.ARN, nil
	}
	arns, err := replay.Destinations(ctx, s.Queue)
	if err != nil {
		return "", s.explain(err)
	}
	names := make([]string, len(arns))
	for i, arn := range arns {
		names[i] = lastPart(arn)
	}
	switch len(names) {
	case 0:
		return "", fmt.Errorf("no queue has %s as its dead-letter queue, so SQS moves nothing; "+
			"sqsafe dlq replay --to does", s.Name)
	case 1:
		return arns[0], nil
	}
	return "", fmt.Errorf("%d queues have %s as their dead-letter queue: %s. SQS does not know the sources of letters "+
		"that a function has sent: name one queue with --to, or use sqsafe dlq replay, which knows them",
		len(names), s.Name, strings.Join(names, ", "))
}

// redriveRow is the JSON output.
type redriveRow struct {
	Event string `json:"event"`
	Queue string `json:"queue"`
	*deadletters.Task
}

func (d *DLQRedrive) end(streams Streams, s *session, task *deadletters.Task) error {
	if d.JSON {
		_ = newEncoder(streams.Out).Encode(redriveRow{"redrive", s.Name, task})
	} else {
		fmt.Fprintf(streams.Out, "redrive of %s: %s, moved about %d of %d\n",
			s.Name, strings.ToLower(task.Status), task.Moved, task.ToMove)
	}
	if task.Status != deadletters.TaskCompleted {
		return fmt.Errorf("the redrive is %s %s", strings.ToLower(task.Status), task.Failure)
	}
	return nil
}

func (d *DLQRedrive) cancel(ctx context.Context, streams Streams, s *session) error {
	task, err := s.LastTask(ctx)
	if err != nil {
		return s.explain(err)
	}
	if task == nil || !task.Running() {
		return fmt.Errorf("no redrive of %s is under way", s.Name)
	}
	if err := s.CancelTask(ctx, task); err != nil {
		return s.explain(err)
	}
	fmt.Fprintf(streams.Out, "cancelled the redrive of %s, which has moved about %d of %d\n",
		s.Name, task.Moved, task.ToMove)
	return d.audit(streams, auditLine{Action: "dlq redrive --cancel", Queue: s.ARN, Letters: int(task.Moved), Why: d.Why})
}
