package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// DLQStatus is the subcommand that sums queues up.
type DLQStatus struct {
	DLQTarget
	Queues []string   `arg:"" optional:"" name:"queue" help:"Dead-letter queues; all that are found without them."`
	Max    int        `placeholder:"N" default:"0" help:"The exit code is 0 while no queue has more than N letters (${default})."`            //nolint:lll // a struct tag is one line
	Window spanOption `placeholder:"DURATION" default:"1h" help:"Count the letters that are new since then, such as 30m or 1d (${default})."` //nolint:lll // a struct tag is one line
	JSON   bool       `name:"json" help:"Print one JSON object for each queue."`
}

// Help returns the text below the flags.
func (d *DLQStatus) Help() string {
	return dlqHelp + `

One line for each queue: how many letters it has, what they died of, how many are
new, and whether a replay is under way.

Exit codes: 0 no queue has more than --max letters, 1 a queue could not be read,
4 a queue has more.`
}

// Validate refuses a negative limit.
func (d *DLQStatus) Validate() error {
	if d.Max < 0 {
		return fmt.Errorf("--max %d: want at least 0", d.Max)
	}
	return d.DLQTarget.Validate()
}

// statusRow is a queue in the JSON output.
type statusRow struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	Queue string    `json:"queue"`
	// Letters is about how many there are, with those that are hidden or stand behind others.
	Letters int `json:"letters"`
	Hidden  int `json:"hidden"`
	Behind  int `json:"behind"`
	Groups  int `json:"groups"`
	// New is how many of those that were read died in the last WindowSeconds.
	New           int     `json:"new"`
	WindowSeconds float64 `json:"windowSeconds"`
	// Done is how many of the jobs are done meanwhile, by the ledger.
	Done int `json:"done"`
	// Oldest is when the first of them died, and Expires when the first expires.
	Oldest  time.Time          `json:"oldest,omitzero"`
	Expires time.Time          `json:"expires,omitzero"`
	Top     *deadletters.Group `json:"top,omitempty"`
	// Replay is the replay that is under way; absent if there is none.
	Replay *replayRow `json:"replay,omitempty"`
}

type replayRow struct {
	// Run is empty for a redrive by SQS.
	Run   string    `json:"run,omitempty"`
	Who   string    `json:"who,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Run reads each queue once.
func (d *DLQStatus) Run(ctx context.Context, streams Streams) error {
	sessions, err := d.sessions(ctx, d.Queues)
	if err != nil {
		return err
	}
	now := time.Now()
	var rows []statusRow
	more := 0
	for _, s := range sessions {
		row, err := d.look(ctx, streams, s, now)
		if err != nil {
			return err
		}
		if rows = append(rows, *row); row.Letters > d.Max {
			more++
		}
	}
	if d.JSON {
		encoder := newEncoder(streams.Out)
		for i := range rows {
			_ = encoder.Encode(rows[i])
		}
	} else {
		fmt.Fprintln(streams.Out, d.table(streams.Out, rows, now))
	}
	if more > 0 {
		return &exitError{ExitLetters, fmt.Errorf("%s more than %d dead letters",
			deadletters.Number(more, "queue has", "queues have"), d.Max)}
	}
	return nil
}

func (d *DLQStatus) look(ctx context.Context, streams Streams, s *session, now time.Time) (*statusRow, error) {
	busy, err := replay.UnderWay(ctx, s.Queue)
	if err != nil {
		return nil, s.explain(err)
	}
	letters, reading, err := s.letters(ctx, streams, &deadletters.Filter{}, false)
	if err != nil {
		return nil, err
	}
	if err := reading.Hold.Release(ctx); err != nil {
		return nil, s.explain(err)
	}
	s.join(ctx, streams, letters)
	row := &statusRow{
		Event: "status", Time: now.UTC(), Queue: s.Name, Letters: reading.Read + reading.Behind + reading.Hidden,
		Hidden: reading.Hidden, Behind: reading.Behind, WindowSeconds: time.Duration(d.Window).Seconds(),
	}
	for _, l := range letters {
		died := l.Died()
		if row.Oldest = earlier(row.Oldest, died.UTC()); !died.Before(now.Add(-time.Duration(d.Window))) {
			row.New++
		}
	}
	groups := deadletters.Groups(letters)
	row.Groups = len(groups)
	for i := range groups {
		row.Done += groups[i].Done
		row.Expires = earlier(row.Expires, groups[i].Expires)
	}
	if len(groups) > 0 {
		row.Top = &groups[0]
	}
	if busy != nil {
		row.Replay = &replayRow{busy.Run, busy.Who, busy.Until.UTC()}
	}
	return row, nil
}

// window formats the window without what is 0.
func (d *DLQStatus) window() string {
	text := age(time.Duration(d.Window))
	return strings.TrimSuffix(strings.TrimSuffix(text, " 0 min"), " 0 h")
}

func (d *DLQStatus) table(out io.Writer, rows []statusRow, now time.Time) string {
	cells := make([][]string, len(rows))
	for i := range rows {
		r := &rows[i]
		expires, top, busy := unknown, unknown, "no"
		if r.Expires.After(now) {
			expires = age(r.Expires.Sub(now))
		}
		if g := r.Top; g != nil {
			top = strings.TrimSpace(fmt.Sprintf("%d× %s %s", g.Count, decision(g.Class, g.Reason), g.Rule))
		}
		if r.Replay != nil {
			busy = cmp.Or(r.Replay.Who, "redrive by SQS")
		}
		cells[i] = []string{
			r.Queue, strconv.Itoa(r.Letters), strconv.Itoa(r.Hidden), strconv.Itoa(r.New), strconv.Itoa(r.Groups),
			cut(oneLine(top), 48), strconv.Itoa(r.Done), since(r.Oldest, now), expires, oneLine(busy),
		}
	}
	return plainTable(out, []int{1, 2, 3, 4, 6, 7, 8}, []string{
		"queue", "letters", "hidden", "new in " + d.window(), "groups", "most", "done", "oldest",
		"expires in", "replay",
	}, cells)
}
