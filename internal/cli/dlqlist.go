package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
	"github.com/muesli/termenv"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQList is the subcommand that shows the letters of a queue.
type DLQList struct {
	DLQTarget
	Queue string   `arg:"" help:"The dead-letter queue."`
	IDs   []string `arg:"" optional:"" name:"id" help:"Only letters with these ids, original ids or keys of jobs."`
	DLQFilter
	Letters  bool          `help:"Show each letter, in the order of a replay, and not only groups."`
	Limit    int           `placeholder:"N" default:"100" help:"With --letters: show N at most (${default}); 0 shows all."`
	Watch    bool          `help:"Look again and again, until a signal."`
	Interval time.Duration `placeholder:"DURATION" default:"10s" help:"With --watch: the pause between two looks (${default})."` //nolint:lll // a struct tag is one line
	JSON     bool          `name:"json" help:"Print one JSON object for each group (with --letters: letter), and a summary."`    //nolint:lll // a struct tag is one line
}

// Help returns the text below the flags.
func (l *DLQList) Help() string { return dlqHelp }

// Validate refuses numbers without a meaning.
func (l *DLQList) Validate() error {
	switch {
	case l.Limit < 0:
		return fmt.Errorf("--limit %d: want at least 1, or 0 for all", l.Limit)
	case l.Interval < time.Second:
		return fmt.Errorf("--interval %s: want at least 1s, since each look hides the letters", l.Interval)
	}
	if err := l.DLQFilter.Validate(); err != nil {
		return err
	}
	return l.DLQTarget.Validate()
}

// listSummary is the last line of the JSON output.
type listSummary struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	Queue string    `json:"queue"`
	// Read is the number of letters that were read, and Letters that of those that match.
	Read    int `json:"read"`
	Letters int `json:"letters"`
	Groups  int `json:"groups"`
	// Behind and Hidden are about how many letters were not read.
	Behind int `json:"behind"`
	Hidden int `json:"hidden"`
	// Done is how many of the letters have jobs that are done meanwhile.
	Done    int       `json:"done"`
	Expires time.Time `json:"expires,omitzero"`
}

// Run shows the queue, once or again and again.
func (l *DLQList) Run(ctx context.Context, streams Streams) error {
	filter, err := l.filter(l.IDs)
	if err != nil {
		return err
	}
	s, err := l.open(ctx, l.Queue)
	if err != nil {
		return err
	}
	if !l.Watch {
		return l.look(ctx, streams, s, filter)
	}
	for {
		if isTerminal(streams.Out) && !l.JSON {
			screen := termenv.NewOutput(streams.Out)
			screen.ClearScreen()
			fmt.Fprintf(streams.Out, "%s, every %s; end with Ctrl-C\n", time.Now().Format(time.TimeOnly), l.Interval)
		}
		if err := l.look(ctx, streams, s, filter); err != nil && ctx.Err() == nil {
			return err
		}
		timer := time.NewTimer(l.Interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if s.Count, err = s.Recount(ctx); err != nil && ctx.Err() == nil {
			return s.explain(err)
		}
	}
}

// look reads the queue and prints what it holds.
func (l *DLQList) look(ctx context.Context, streams Streams, s *session, filter *deadletters.Filter) error {
	letters, reading, err := s.letters(ctx, streams, filter, false)
	if err != nil {
		return err
	}
	if err := reading.Hold.Release(ctx); err != nil {
		return s.explain(err)
	}
	s.join(ctx, streams, letters)
	groups := deadletters.Groups(letters)
	if l.JSON {
		l.printJSON(streams.Out, s, reading, letters, groups)
		return nil
	}
	l.print(streams.Out, s, reading, letters, groups)
	notices(streams.Out, s, reading)
	return nil
}

func (l *DLQList) printJSON(
	out io.Writer, s *session, r *deadletters.Reading, letters []*deadletters.Letter, groups []deadletters.Group,
) {
	encoder := newEncoder(out)
	sum := listSummary{
		Event: "summary", Time: time.Now().UTC(), Queue: s.Name, Read: r.Read, Letters: len(letters), Groups: len(groups),
		Behind: r.Behind, Hidden: r.Hidden,
	}
	if l.Letters {
		deadletters.Sort(letters, s.FIFO)
	}
	for i, letter := range letters {
		if l.Letters && (l.Limit == 0 || i < l.Limit) {
			_ = encoder.Encode(newLetterRow(letter))
		}
	}
	for _, g := range groups {
		sum.Done += g.Done
		sum.Expires = earlier(sum.Expires, g.Expires)
		if !l.Letters {
			_ = encoder.Encode(struct {
				Event string `json:"event"`
				deadletters.Group
			}{"group", g})
		}
	}
	_ = encoder.Encode(sum)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (l *DLQList) print(
	out io.Writer, s *session, r *deadletters.Reading, letters []*deadletters.Letter, groups []deadletters.Group,
) {
	now := time.Now()
	switch {
	case len(letters) == 0:
		fmt.Fprintln(out, s.none(r))
		return
	case l.Letters:
		deadletters.Sort(letters, s.FIFO)
		shown := letters
		if l.Limit > 0 && len(shown) > l.Limit {
			shown = shown[:l.Limit]
		}
		fmt.Fprintln(out, letterTable(out, shown, now))
		if len(shown) < len(letters) {
			fmt.Fprintf(out, "and %d more; --limit 0 shows all\n", len(letters)-len(shown))
		}
	default:
		fmt.Fprintln(out, groupTable(out, groups, now))
	}
	var expires time.Time
	for _, g := range groups {
		expires = earlier(expires, g.Expires)
	}
	text := fmt.Sprintf("%s in %s of %s", letterCount(len(letters)), groupCount(len(groups)), s.Name)
	if len(letters) < r.Read {
		text += fmt.Sprintf(", of %d there", r.Read)
	}
	if !expires.IsZero() {
		text += "; the first expires " + moment(expires, now)
	}
	fmt.Fprintln(out, text)
}

// none says that no letter matches, of those that were read.
func (s *session) none(r *deadletters.Reading) string {
	switch {
	case r.Read == 0 && r.Hidden+r.Behind > 0:
		return "no dead letter in " + s.Name + " is to be seen now"
	case r.Read == 0:
		return "no dead letters in " + s.Name
	case r.Read == 1:
		return "the only dead letter in " + s.Name + " does not match"
	}
	return fmt.Sprintf("none of %d dead letters in %s match", r.Read, s.Name)
}

func letterCount(n int) string { return deadletters.Number(n, "dead letter", "dead letters") }

func groupCount(n int) string { return deadletters.Number(n, "group", "groups") }

// plainTable formats rows, with the named columns aligned to the right.
func plainTable(out io.Writer, right []int, headers []string, rows [][]string) string {
	r := lipgloss.NewRenderer(out)
	t := table.New().Border(lipgloss.NormalBorder()).BorderStyle(r.NewStyle().Faint(true)).
		Headers(headers...).Rows(rows...)
	t.StyleFunc(func(row, column int) lipgloss.Style {
		style := r.NewStyle().Padding(0, 1)
		if slices.Contains(right, column) {
			style = style.Align(lipgloss.Right)
		}
		if row == table.HeaderRow {
			style = style.Bold(true)
		}
		return style
	})
	return t.Render()
}

// groupTable formats groups: the error takes what room the other columns leave.
func groupTable(out io.Writer, groups []deadletters.Group, now time.Time) string {
	const others = 128 // width of the other columns in characters
	room := max(cmp.Or(columns(out), pipeWidth)-others, 24)
	rows := make([][]string, len(groups))
	for i, g := range groups {
		again := "0"
		if g.Again > 0 {
			again = fmt.Sprintf("%d (%d×)", g.Again, g.Most)
		}
		done := unknown
		if g.Asked > 0 {
			done = fmt.Sprintf("%d of %d", g.Done, g.Asked)
		}
		expires := unknown
		if g.Expires.After(now) {
			expires = age(g.Expires.Sub(now))
		}
		reason := strings.TrimSpace(decision(g.Class, g.Reason))
		if kind := string(g.Kind); g.Kind != deadletters.KindRecorded && kind != g.Reason {
			reason = strings.TrimSuffix(kind+": "+reason, ": ")
		}
		rows[i] = []string{
			strconv.Itoa(g.Count), oneLine(reason), cmp.Or(cut(oneLine(g.Rule), 28), unknown),
			cmp.Or(cut(oneLine(g.Error), room), unknown), cmp.Or(cut(oneLine(strings.Join(g.Versions, ", ")), 20), unknown),
			since(g.First, now), since(g.Last, now), again, done, expires, g.Fingerprint,
		}
	}
	return plainTable(out, []int{0, 5, 6, 7, 8, 9}, []string{
		"count", "reason", "rule", "error", "version", "first", "last", "failed again", "done", "expires in", "group",
	}, rows)
}

// since formats how long ago a time is.
func since(at, now time.Time) string {
	if at.IsZero() {
		return unknown
	}
	return age(max(0, now.Sub(at))) + " ago"
}

// letterTable formats letters.
func letterTable(out io.Writer, letters []*deadletters.Letter, now time.Time) string {
	const others = 140 // width of the other columns in characters
	room := max(cmp.Or(columns(out), pipeWidth)-others, 24)
	rows := make([][]string, len(letters))
	for i, l := range letters {
		rows[i] = []string{
			l.ID, cmp.Or(cut(oneLine(l.Record.Key), 24), unknown), cmp.Or(oneLine(l.Reason()), unknown),
			cmp.Or(cut(oneLine(l.Record.Message), room), unknown), cmp.Or(oneLine(l.Record.FunctionVersion), unknown),
			since(l.Died(), now),
			cmp.Or(oneLine(l.Group), unknown), cmp.Or(string(l.Ledger), unknown),
		}
	}
	return plainTable(out, []int{5}, []string{"id", "key", "reason", "error", "version", "died", "group", "ledger"}, rows)
}
