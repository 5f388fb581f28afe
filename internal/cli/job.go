package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/jobs"
)

// Job is the subcommand that tells what became of a job.
type Job struct {
	LedgerTarget
	Key     string        `arg:"" help:"Key of the job, or its whole id QUEUE#KEY."`
	Wait    bool          `help:"Wait until the job is done or dead."`
	Timeout time.Duration `placeholder:"DURATION" help:"With --wait: wait for this time at most, such as 5m; without it until a signal comes."`                      //nolint:lll // a struct tag is one line
	Epoch   int           `placeholder:"N" help:"With --wait: an end before this epoch does not count; for a job that is replayed, the epoch of its death and one."` //nolint:lll // a struct tag is one line
	JSON    bool          `name:"json" help:"Print one JSON object."`
}

// Help returns the text below the flags.
func (j *Job) Help() string {
	return ledgerHelp + `

Exit codes: 0 done, 3 dead, 5 not ended (it runs, or waits for its next
attempt), 6 unknown: the table does not have it, so it was not delivered yet,
was never sent, or is forgotten. 124 says that --timeout has ended before, and
1 that the table cannot be read.`
}

// Validate refuses flags that would have no effect.
func (j *Job) Validate() error {
	switch {
	case j.Timeout < 0 || j.Epoch < 0:
		return errors.New("--timeout and --epoch: want more than 0, or leave them out")
	case !j.Wait && (j.Timeout > 0 || j.Epoch > 0):
		return errors.New("--timeout and --epoch are for --wait; add it")
	case j.Queue == "" && !strings.Contains(j.Key, "#"):
		return errors.New("which queue? give --queue, or the whole id QUEUE#KEY")
	}
	return j.LedgerTarget.Validate()
}

// Run tells the status of the job.
func (j *Job) Run(ctx context.Context, streams Streams) error {
	client, err := j.client(ctx)
	if err != nil {
		return err
	}
	table := j.Table
	if table == "" {
		found, err := ledger.Find(ctx, client)
		if err != nil {
			return j.explain(err)
		}
		table = found.Name
	}
	queue, key, _ := strings.Cut(j.id(j.Key), "#")
	known, err := jobs.New(client, table, queue)
	if err != nil {
		return err
	}
	status, late, err := j.read(ctx, known, key, streams)
	if err != nil {
		return j.explain(err)
	}
	if j.JSON {
		err = newEncoder(streams.Out).Encode(status)
	} else {
		_, err = fmt.Fprintln(streams.Out, statusText(status, time.Now()))
		if status.State == jobs.Unknown {
			fmt.Fprintf(streams.Err, "note: %s is no id in table %s; sqsafe ledger list shows those that are there\n",
				oneLine(queue+"#"+key), table)
		}
	}
	if late {
		return exitCode(ExitTimeout)
	}
	if code := statusCodes[status.State]; err == nil && code != ExitOK {
		return exitCode(code)
	}
	return err
}

// read returns the status of the job, with --wait when it has ended. Late says that
// --timeout ended before: the status says how far the job has come.
func (j *Job) read(
	ctx context.Context, known *jobs.Ledger, key string, streams Streams,
) (status jobs.Status, late bool, err error) {
	if !j.Wait {
		status, err = known.Status(ctx, key)
		return status, false, err
	}
	wait := ctx
	if j.Timeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, j.Timeout)
		defer cancel()
	}
	o := &jobs.WaitOptions{Epoch: j.Epoch}
	if isTerminal(streams.Err) {
		o.Observe = func(s jobs.Status) { showStatus(streams.Err, s) }
	}
	status, err = known.Wait(wait, key, o)
	ended, ok := errors.AsType[*jobs.WaitError](err)
	switch {
	case !ok || ctx.Err() != nil:
		return status, false, err
	case ended.Read != nil:
		return status, false, ended.Read
	}
	return status, true, nil
}

// showStatus prints a status while the command waits.
func showStatus(out io.Writer, s jobs.Status) {
	if !s.State.Ended() {
		fmt.Fprintln(out, time.Now().Format(time.TimeOnly), statusText(s, time.Now()))
	}
}

// statusCodes are the exit codes of the command by state. They are stable.
var statusCodes = map[jobs.State]int{
	jobs.Done: ExitOK, jobs.Dead: ExitStopped, jobs.Running: ExitNotEnded, jobs.Waiting: ExitNotEnded,
	jobs.Unknown: ExitUnknown,
}

// statusText describes a status in one line.
func statusText(s jobs.Status, now time.Time) string {
	text := []string{string(s.State)}
	switch s.State {
	case jobs.Unknown:
		text = append(text, "the table does not have it: not delivered yet, never sent, or forgotten")
	case jobs.Running:
		text = append(text, "claimed"+until(s.Until, now))
	case jobs.Waiting:
		if s.Interrupted {
			text = append(text, "its last run ended without a result")
		}
		if next := s.NextAttempt.Sub(now); next > 0 {
			text = append(text, "next attempt in "+age(next))
		} else {
			text = append(text, "next attempt is due")
		}
	case jobs.Dead:
		if s.DeadLetterID == "" {
			text = append(text, "its dead letter is not confirmed yet")
		} else {
			text = append(text, "dead letter "+s.DeadLetterID)
		}
	case jobs.Done:
	}
	if s.Runs > 0 {
		text = append(text, fmt.Sprintf("failed runs: %d", s.Runs))
	}
	if why := decision(s.Class, s.Reason); why != "" {
		text = append(text, strings.TrimSuffix(why+": "+oneLine(s.Error), ": "))
	}
	return strings.Join(text, ", ")
}

func until(at, now time.Time) string {
	if !at.After(now) {
		return ""
	}
	return " for another " + age(at.Sub(now)) + " at most"
}
