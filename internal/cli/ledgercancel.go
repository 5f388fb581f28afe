package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

// LedgerCancel is the subcommand that ends a job that has not ended by itself.
type LedgerCancel struct {
	LedgerTarget
	Key    string `arg:"" help:"Key of the job, or its whole id QUEUE#KEY."`
	Reason string `required:"" placeholder:"TEXT" help:"Why; it is written into the failure record and the audit line."`
	Force  bool   `help:"Cancel a job that a delivery runs; its effects may happen, and its result is not recorded."`
	Yes    bool   `help:"Do it; without this the command says what it would do."`
	Audit  string `placeholder:"FILE" help:"Append the audit line to this file; without it, it goes to standard error."`
	JSON   bool   `name:"json" help:"Print one JSON object with the job as it was."`
}

// Help returns the text below the flags.
func (c *LedgerCancel) Help() string {
	return ledgerHelp + `

The next delivery of the job sends its message to the dead-letter queue, with a
failure record that has the reason, and does not run it. The message itself stays
where it is until then. Replayed, or sent again by its producer, the job runs
with a whole budget. Nothing is written if the job has changed since it was read.`
}

// Validate refuses an empty reason.
func (c *LedgerCancel) Validate() error {
	if strings.TrimSpace(c.Reason) == "" {
		return errors.New("say with --reason why the job is cancelled")
	}
	return c.LedgerTarget.Validate()
}

// cancelledRow is the JSON output.
type cancelledRow struct {
	Event  string    `json:"event"`
	Time   time.Time `json:"time"`
	Table  string    `json:"table"`
	Reason string    `json:"reason"`
	Job    jobRow    `json:"job"`
}

// Run writes the verdict.
func (c *LedgerCancel) Run(ctx context.Context, streams Streams) error {
	table, job, err := c.find(ctx, c.Key)
	if err != nil {
		return err
	}
	now := time.Now()
	id, state := oneLine(job.ID), job.State(now)
	switch {
	case job.Status != "INPROGRESS" || state == ledger.StateExpired:
		return fmt.Errorf("job %s is %s (%s): there is nothing to cancel", id, oneLine(job.Status), stateText(job, now))
	case state.Live() && !c.Force:
		return fmt.Errorf("job %s is %s; wait for its end, or add --force", id, stateText(job, now))
	case !c.Yes:
		fmt.Fprintf(streams.Out, "%s (%s) in table %s would be cancelled; add --yes to do it\n",
			id, stateText(job, now), table.Name)
		return nil
	}
	err = table.Cancel(ctx, job, c.Reason, "cancel-"+rand.Text(), now)
	if errors.Is(err, ledger.ErrChanged) {
		return fmt.Errorf("job %s has changed since it was read, and is not cancelled; look at it again", id)
	}
	if err != nil {
		return c.explain(err)
	}
	if c.JSON {
		_ = newEncoder(streams.Out).Encode(cancelledRow{"cancelled", now.UTC(), table.Name, c.Reason, newJobRow(job, now)})
	} else {
		fmt.Fprintf(streams.Out, "cancelled %s (%s) in table %s: its next delivery ends dead\n",
			id, stateText(job, now), table.Name)
	}
	return (&Change{Audit: c.Audit}).audit(streams, auditLine{Action: "ledger cancel", Job: job.ID, Why: c.Reason})
}
