package cli

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
)

// DLQPrune is the subcommand that deletes archives whose time is over.
type DLQPrune struct {
	Directory string `arg:"" help:"The directory with the archives."`
	Change
	JSON bool `name:"json" help:"Print one JSON object for each file."`
}

// Help returns the text below the flags.
func (p *DLQPrune) Help() string {
	return `An archive says for how long to keep it if it was written with --retain. Others,
and other files, are left alone. Without --yes nothing is deleted.`
}

// prunedRow is the JSON output.
type prunedRow struct {
	Event string `json:"event"`
	File  string `json:"file"`
}

// Run deletes the archives.
func (p *DLQPrune) Run(streams Streams) error {
	expired, err := archive.Expired(p.Directory, time.Now())
	if err != nil {
		return err
	}
	for _, path := range expired {
		row := prunedRow{"expired", path}
		if p.Yes {
			if err := archive.Remove(path); err != nil {
				return err
			}
			if err := p.audit(streams, auditLine{Action: "dlq prune", File: path}); err != nil {
				return err
			}
			row.Event = "pruned"
		}
		if p.JSON {
			_ = newEncoder(streams.Out).Encode(row)
		} else {
			fmt.Fprintf(streams.Out, "%s %s\n", row.Event, path)
		}
	}
	if !p.JSON && !p.Yes && len(expired) > 0 {
		fmt.Fprintln(streams.Out, "nothing was deleted; add --yes to do it")
	}
	return nil
}
