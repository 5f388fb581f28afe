package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
)

// DLQRestore is the subcommand that sends the letters of a file into a dead-letter queue.
type DLQRestore struct {
	DLQTarget
	Queue string `arg:"" help:"The dead-letter queue."`
	File  string `arg:"" help:"The file that sqsafe dlq archive or discard has written."`
	Change
	Again bool `help:"Send also letters that an earlier restore of this file has sent, or may have."`
	JSON  bool `name:"json" help:"Print one JSON object."`
}

// Help returns the text below the flags.
func (r *DLQRestore) Help() string {
	return dlqHelp + `

All checksums are verified before the first letter is sent. What was sent is
noted beside the file, so that a restore that was interrupted can be repeated.
Without --yes the file is verified, and nothing is sent.`
}

// restoredRow is the JSON output.
type restoredRow struct {
	Event   string    `json:"event"`
	Queue   string    `json:"queue"`
	File    string    `json:"file"`
	From    string    `json:"from"`
	Created time.Time `json:"created"`
	Letters int       `json:"letters"`
	// Whole is false if the archiving was interrupted.
	Whole bool `json:"whole"`
	archive.Restored
}

// Run verifies the file, and with --yes sends the letters.
func (r *DLQRestore) Run(ctx context.Context, streams Streams) error {
	content, err := archive.Verify(r.File)
	if err != nil {
		return err
	}
	s, err := r.open(ctx, r.Queue)
	if err != nil {
		return err
	}
	row := restoredRow{
		Event: "verified", Queue: s.Name, File: r.File, From: content.Queue, Created: content.Created,
		Letters: content.Letters, Whole: content.Whole,
	}
	if s.Target != "" && !r.SpendReceives {
		return fmt.Errorf("queue %s has a redrive policy, so it is no place for dead letters; "+
			"if you mean it, add --spend-receives", s.Name)
	}
	if !r.Yes {
		return r.print(streams, row)
	}
	line := newProgress(streams.Err, "restoring to "+s.Name, content.Letters)
	o := archive.Restoration{
		Path: r.File, Queue: s.Queue, Again: r.Again, Who: who(), Observe: func(sent int) { line.steps(sent - line.done) },
	}
	row.Restored, err = o.Do(ctx)
	row.Event = "restored"
	line.clear()
	auditErr := r.audit(streams, auditLine{
		Action: "dlq restore", Queue: s.ARN, Letters: row.Sent, Failed: err != nil || row.Uncertain > 0, File: r.File,
	})
	printErr := r.print(streams, row)
	switch {
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	case err != nil:
		err = s.explain(err)
	case row.Uncertain > 0:
		err = fmt.Errorf("%s not sent again; look for them with sqsafe dlq list",
			deadletters.Number(row.Uncertain, "letter may have been sent, and was", "letters may have been sent, and were"))
	}
	return errors.Join(err, auditErr, printErr)
}

func (r *DLQRestore) print(streams Streams, row restoredRow) error {
	if r.JSON {
		return newEncoder(streams.Out).Encode(row)
	}
	fmt.Fprintf(streams.Out, "%s has %s of %s, of %s; all checksums are right\n", row.File, letterCount(row.Letters),
		lastPart(row.From), row.Created.Local().Format(time.DateTime))
	if !row.Whole {
		fmt.Fprintln(streams.Out, "its archiving was interrupted: letters that are not in it are still in the queue")
	}
	if row.Event == "verified" {
		fmt.Fprintf(streams.Out, "nothing was sent; add --yes to send them to %s\n", row.Queue)
		return nil
	}
	fmt.Fprintf(streams.Out, "restored %d of them to %s", row.Sent, row.Queue)
	if row.Before > 0 {
		fmt.Fprintf(streams.Out, ", and %d were restored before", row.Before)
	}
	fmt.Fprintln(streams.Out)
	return nil
}
