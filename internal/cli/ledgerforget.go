package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

// LedgerForget is the subcommand that deletes a job from the table.
type LedgerForget struct {
	LedgerTarget
	Key    string `arg:"" help:"Key of the job, or its whole id QUEUE#KEY."`
	Reason string `required:"" placeholder:"TEXT" help:"Why; it is printed with what was deleted."`
	Force  bool   `help:"Forget a job that a delivery holds; its effects may then happen twice."`
	Yes    bool   `help:"Do not ask; needed where nobody can be asked."`
	JSON   bool   `name:"json" help:"Print one JSON object with all that was deleted."`
}

// Help returns the text below the flags.
func (f *LedgerForget) Help() string {
	return ledgerHelp + `

The next message of a job that was forgotten runs it from the start, whether it
was done before or not. A dead job needs no such thing: it runs again when its
dead letter is sent back, or its producer sends it again. Messages stay where
they are. Nothing is deleted if the job has changed since it was read.`
}

// Validate refuses an empty reason.
func (f *LedgerForget) Validate() error {
	if strings.TrimSpace(f.Reason) == "" {
		return errors.New("say with --reason why the job is to be forgotten")
	}
	return f.LedgerTarget.Validate()
}

// forgotten is the JSON output.
type forgotten struct {
	Event  string    `json:"event"`
	Time   time.Time `json:"time"`
	Table  string    `json:"table"`
	ID     string    `json:"id"`
	Reason string    `json:"reason"`
	Job    jobRow    `json:"job"`
}

// Run asks for confirmation and deletes the job.
func (f *LedgerForget) Run(ctx context.Context, streams Streams) error {
	if !f.Yes && !isTerminal(streams.In) {
		return usageError("nobody can be asked here whether the job is to be forgotten; add --yes")
	}
	table, job, err := f.find(ctx, f.Key)
	if err != nil {
		return err
	}
	now := time.Now()
	state, id := job.State(now), oneLine(job.ID)
	if state.Live() && !f.Force {
		return fmt.Errorf("job %s is %s; wait for its end, or add --force if its process is gone for certain",
			id, stateText(job, now))
	}
	if err := f.confirm(ctx, streams, table, job); err != nil {
		return err
	}
	err = table.Forget(ctx, job)
	if errors.Is(err, ledger.ErrChanged) {
		return fmt.Errorf("job %s has changed since it was read, and is not forgotten; look at it again", id)
	}
	if err != nil {
		return f.explain(err)
	}
	if f.JSON {
		return newEncoder(streams.Out).Encode(forgotten{
			Event: "forgotten", Time: now.UTC(), Table: table.Name, ID: job.ID, Reason: f.Reason, Job: newJobRow(job, now),
		})
	}
	fmt.Fprintf(streams.Out, "forgot %s, which was %s (%s), in table %s: %s\n",
		id, job.Status, stateText(job, now), table.Name, oneLine(f.Reason))
	return nil
}

// confirm asks on a terminal. It returns an error if the answer is not yes.
func (f *LedgerForget) confirm(ctx context.Context, streams Streams, t *ledger.Table, job *ledger.Entry) error {
	if f.Yes {
		return nil
	}
	fmt.Fprintf(streams.Err, "%s is %s (%s) in table %s at %s.\n"+
		"Once forgotten, it runs again with its next message. Forget it? [y/N] ",
		oneLine(job.ID), job.Status, stateText(job, time.Now()), t.Name, f)
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(streams.In).ReadString('\n') // the end of the input counts as no
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(streams.Err)
		return errInterrupted
	case answer := <-answers:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return errors.New("nothing is forgotten")
	}
}
