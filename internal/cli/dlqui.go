package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/dlqui"
	"github.com/sqsafe/sqsafe/internal/localguard"
)

// DLQUI is the subcommand that serves the page.
type DLQUI struct {
	DLQTarget
	Queues   []string `arg:"" optional:"" name:"queue" help:"Dead-letter queues; all that are found without them."`
	Addr     string   `placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Address of the page, on this machine only (${default}: a free port)."` //nolint:lll // a struct tag is one line
	ReadOnly bool     `help:"Show letters, and change nothing."`
	DLQStops
	LogsTarget
	Audit   string `placeholder:"FILE" help:"Append audit lines to this file; without it, they go to standard error."`
	Journal string `placeholder:"DIR" help:"Where journals and archives are written; ~/.local/state/sqsafe without it."`
	JSON    bool   `name:"json" help:"Print one JSON object with the link."`

	feed *localFeed // of the local stack that the page stands beside; nil if there is none
}

// Help returns the text below the flags.
func (u *DLQUI) Help() string {
	return `This prints a link and serves the page until Ctrl-C. The link has a key: whoever has
it can do on the page what you can. Nobody else on this machine or in the network
can, and no other page in your browser.

A page that shows letters reads the queue, which hides them from others for a
moment, and counts as a receive. Runs that Ctrl-C ends are carried on with
sqsafe dlq replay --resume.`
}

// Validate refuses flags that contradict each other.
func (u *DLQUI) Validate() error {
	if u.Growth < 0 {
		return fmt.Errorf("--growth %d: want at least 0, or use --any-growth", u.Growth)
	}
	return u.DLQTarget.Validate()
}

// pageRow is the JSON output.
type pageRow struct {
	Event    string   `json:"event"`
	URL      string   `json:"url"`
	Queues   []string `json:"queues"`
	ReadOnly bool     `json:"readOnly"`
}

// Run serves the page until ctx ends.
func (u *DLQUI) Run(ctx context.Context, streams Streams) error {
	return u.serve(ctx, streams, func(url string, names []string) {
		if u.JSON {
			_ = newEncoder(streams.Out).Encode(pageRow{"page", url, names, u.ReadOnly})
			return
		}
		fmt.Fprintf(streams.Err, "dead letters of %s; end with Ctrl-C\n", strings.Join(names, ", "))
		fmt.Fprintln(streams.Out, url)
	})
}

// serve calls told with the link and the names of the queues, and serves the page until ctx
// ends.
func (u *DLQUI) serve(ctx context.Context, streams Streams, told func(url string, names []string)) error {
	sessions, err := u.sessions(ctx, u.Queues)
	if err != nil {
		return err
	}
	guard, err := localguard.Listen(ctx, localguard.Options{Address: u.Addr, ReadOnly: u.ReadOnly})
	if wrong, ok := errors.AsType[*localguard.AddressError](err); ok {
		return usageError("--addr: " + wrong.Error())
	}
	if err != nil {
		return fmt.Errorf("--addr %s: %w", u.Addr, err)
	}
	pages, err := dlqui.New(u.options(sessions, guard, streams))
	if err != nil {
		return errors.Join(err, guard.Close())
	}
	names := make([]string, len(sessions))
	for i, s := range sessions {
		names[i] = s.Name
	}
	told(guard.URL(), names)
	running, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { pages.Run(running) })
	err = guard.Serve(ctx, pages)
	cancel()
	watching.Wait()
	return err
}

// options are those of the page.
func (u *DLQUI) options(sessions []*session, guard *localguard.Guard, streams Streams) dlqui.Options {
	byQueue := map[*dlqui.Queue]*session{}
	directory := u.Journal
	if directory == "" {
		directory = stateDirectory()
	}
	growth := u.Growth
	if u.AnyGrowth {
		growth = -1
	}
	change := Change{Audit: u.Audit}
	var auditing sync.Mutex
	stops := &DLQReplay{DLQTarget: u.DLQTarget, DLQStops: u.DLQStops}
	o := dlqui.Options{
		Directory: directory, ReadOnly: u.ReadOnly, CSRF: guard.CSRF(), Place: u.String(), Who: who(), Growth: growth,
		Read:    deadletters.ReadOptions{SpendReceives: u.SpendReceives},
		Explain: func(q *dlqui.Queue, err error) string { return byQueue[q].explain(err).Error() },
		Audit: func(d dlqui.Deed) error {
			auditing.Lock()
			defer auditing.Unlock()
			return change.audit(streams, auditLine{
				Action: "dlq " + d.Action, Queue: d.Queue.ARN, Letters: d.Letters, Failed: d.Failed, Run: d.Run, File: d.File,
				Why: d.Why,
			})
		},
		Conditions: func(ctx context.Context, q *dlqui.Queue) ([]replay.Condition, error) {
			return stops.conditions(ctx, byQueue[q], streams, nil)
		},
	}
	o.Functions, o.Logs = &pageFunctions{u, byQueue}, u.pageLogs()
	if u.feed != nil {
		o.Live = u.feed
	}
	for _, s := range sessions {
		q := &dlqui.Queue{Queue: s.Queue, Table: s.table, NoTable: s.noTable}
		o.Queues, byQueue[q] = append(o.Queues, q), s
	}
	return o
}
