package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

// LedgerGet is the subcommand that shows a job.
type LedgerGet struct {
	LedgerTarget
	Key  string `arg:"" help:"Key of the job, or its whole id QUEUE#KEY."`
	JSON bool   `name:"json" help:"Print one JSON object; it has all that the table holds."`
}

// Help returns the text below the flags.
func (g *LedgerGet) Help() string {
	return ledgerHelp + `

A key of more than 512 bytes is in the table as sha256: and its hash. The exit
code is 1 if the table does not hold the job.`
}

// jobRow is a job in the JSON output.
type jobRow struct {
	ledger.Entry
	Runs  int          `json:"runs"`
	State ledger.State `json:"state"`
}

func newJobRow(job *ledger.Entry, now time.Time) jobRow {
	return jobRow{Entry: *job, Runs: job.Runs(), State: job.State(now)}
}

// Run shows the job.
func (g *LedgerGet) Run(ctx context.Context, streams Streams) error {
	_, job, err := g.find(ctx, g.Key)
	if err != nil {
		return err
	}
	now := time.Now()
	if g.JSON {
		return newEncoder(streams.Out).Encode(newJobRow(job, now))
	}
	fmt.Fprint(streams.Out, jobText(streams.Out, job, now))
	return nil
}
