package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
)

// DLQArchive is the subcommand that moves letters into a file.
type DLQArchive struct {
	DLQTarget
	Queue string   `arg:"" help:"The dead-letter queue."`
	File  string   `arg:"" help:"The file, which must not exist; compressed if its name ends with .gz."`
	IDs   []string `arg:"" optional:"" name:"id" help:"Only letters with these ids, original ids or keys of jobs."`
	DLQFilter
	Change
	Keep   bool       `help:"Leave the letters in the queue: the file is a copy."`
	Retain spanOption `placeholder:"DURATION" help:"Note in the file for how long to keep it, such as 90d."`
	Why    string     `placeholder:"TEXT" help:"Why; it is written into the file and the audit line."`
	JSON   bool       `name:"json" help:"Print one JSON object."`
}

// Help returns the text below the flags.
func (a *DLQArchive) Help() string {
	return dlqHelp + `

Each letter is a line with a checksum, byte for byte, and is deleted from the
queue when its line is on disk. Only its owner can read the file. Without --yes
or --keep nothing is done.`
}

// Validate refuses filters that cannot be read.
func (a *DLQArchive) Validate() error {
	if err := a.DLQFilter.Validate(); err != nil {
		return err
	}
	return a.DLQTarget.Validate()
}

// Run moves the letters.
func (a *DLQArchive) Run(ctx context.Context, streams Streams) error {
	filter, err := a.filter(a.IDs)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, a.Queue)
	if err != nil {
		return err
	}
	if !a.Yes && !a.Keep {
		return s.wouldMove(ctx, streams, filter, a.JSON, "moved to "+a.File)
	}
	o := &archive.Operation{
		Path: a.File, Keep: a.Keep, Retain: time.Duration(a.Retain), Why: a.Why,
	}
	return s.move(ctx, streams, o, filter, &a.Change, "dlq archive", a.JSON)
}

// wouldMove says how many letters match.
func (s *session) wouldMove(
	ctx context.Context, streams Streams, filter *deadletters.Filter, asJSON bool, what string,
) error {
	letters, reading, err := s.letters(ctx, streams, filter, false)
	if err != nil {
		return err
	}
	if err := reading.Hold.Release(ctx); err != nil {
		return s.explain(err)
	}
	if asJSON {
		return newEncoder(streams.Out).Encode(movedRow{
			Event: "planned", Queue: s.Name, Letters: len(letters),
			Result: archive.Result{Behind: reading.Behind, Hidden: reading.Hidden},
		})
	}
	if len(letters) == 0 {
		fmt.Fprintln(streams.Out, s.none(reading))
	} else {
		fmt.Fprintf(streams.Out, "%s of %d in %s would be %s; add --yes to do it\n",
			letterCount(len(letters)), reading.Read, s.Name, what)
	}
	notices(streams.Out, s, reading)
	return nil
}

// movedRow is the JSON output.
type movedRow struct {
	Event   string `json:"event"`
	Queue   string `json:"queue"`
	File    string `json:"file,omitempty"`
	Letters int    `json:"letters"`
	archive.Result
}

// move moves letters into the file, and prints what it did.
func (s *session) move(
	ctx context.Context, streams Streams, o *archive.Operation, filter *deadletters.Filter, change *Change,
	action string, asJSON bool,
) error {
	line := newProgress(streams.Err, "archiving "+s.Name, s.Count.Visible)
	o.Queue, o.Filter, o.Who = s.Queue, *filter, who()
	o.Read = deadletters.ReadOptions{SpendReceives: s.target.SpendReceives}
	o.Observe = func(done int) { line.steps(done - line.done) }
	result, err := o.Do(ctx)
	line.clear()
	auditErr := change.audit(streams, auditLine{
		Action: action, Queue: s.ARN, Letters: result.Archived, Failed: err != nil || result.Undeleted > 0, File: o.Path,
		Why: o.Why,
	})
	switch {
	case asJSON:
		_ = newEncoder(streams.Out).Encode(movedRow{
			strings.TrimPrefix(action, "dlq ") + "d", s.Name, o.Path, result.Archived, result,
		})
	case result.Archived == 0:
		fmt.Fprintf(streams.Out, "no dead letters of %s match, and there is no file\n", s.Name)
	case o.Keep:
		fmt.Fprintf(streams.Out, "copied %s of %s to %s\n", letterCount(result.Archived), s.Name, o.Path)
	default:
		fmt.Fprintf(streams.Out, "%s of %s: in %s, and %s\n",
			letterCount(result.Archived), s.Name, o.Path, deletedText(result.Deleted, result.Archived))
	}
	notices(streams.Err, s, &deadletters.Reading{Behind: result.Behind, Hidden: result.Hidden})
	switch {
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	case err != nil:
		err = s.explain(err)
	case result.Undeleted > 0:
		err = fmt.Errorf("%s in the file and still in the queue",
			deadletters.Number(result.Undeleted, "letter is", "letters are"))
	}
	return errors.Join(err, auditErr)
}

func deletedText(deleted, archived int) string {
	if deleted == archived {
		return "deleted from the queue"
	}
	return fmt.Sprintf("%d of them deleted from the queue", deleted)
}

// spanOption is the value of a flag: a duration, which may be in days.
type spanOption time.Duration

// UnmarshalText parses a duration such as 90d or 36h.
func (d *spanOption) UnmarshalText(text []byte) error {
	parsed, err := deadletters.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q: want a duration such as 90d or 36h", text)
	}
	*d = spanOption(parsed)
	return nil
}

// DLQDiscard is the subcommand that deletes letters, which it archives first.
type DLQDiscard struct {
	DLQTarget
	Queue string   `arg:"" help:"The dead-letter queue."`
	IDs   []string `arg:"" optional:"" name:"id" help:"Only letters with these ids, original ids or keys of jobs."`
	DLQFilter
	Change
	Reason  string `required:"" placeholder:"TEXT" help:"Why; it is written into the archive and the audit line."`
	All     bool   `help:"Discard all letters; needed if nothing selects some."`
	Archive string `placeholder:"FILE" help:"Where the letters are kept; a file in ~/.local/state/sqsafe without it."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// Help returns the text below the flags.
func (d *DLQDiscard) Help() string {
	return dlqHelp + `

The letters are archived first, so that sqsafe dlq restore brings them back.
Without --yes nothing is done.`
}

// Validate refuses an empty reason.
func (d *DLQDiscard) Validate() error {
	if strings.TrimSpace(d.Reason) == "" {
		return errors.New("say with --reason why the letters are discarded")
	}
	filter, err := d.filter(d.IDs)
	if err != nil {
		return err
	}
	if filter.IsZero() != d.All {
		return errors.New("name letters by ids or filters, or discard them with --all, not both")
	}
	return d.DLQTarget.Validate()
}

// Run archives and deletes the letters.
func (d *DLQDiscard) Run(ctx context.Context, streams Streams) error {
	filter, err := d.filter(d.IDs)
	if err != nil {
		return err
	}
	s, err := d.open(ctx, d.Queue)
	if err != nil {
		return err
	}
	if !d.Yes {
		return s.wouldMove(ctx, streams, filter, d.JSON, "discarded")
	}
	path := d.Archive
	if path == "" {
		name := "discard-" + s.Name + "-" + time.Now().UTC().Format("20060102T150405.000") + ".jsonl.gz"
		path = filepath.Join(stateDirectory(), name)
	}
	return s.move(ctx, streams, &archive.Operation{Path: path, Why: d.Reason}, filter, &d.Change, "dlq discard", d.JSON)
}
