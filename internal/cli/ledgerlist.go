package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// LedgerList is the subcommand that lists jobs.
type LedgerList struct {
	LedgerTarget
	Status  string `placeholder:"STATUS" help:"Only jobs with this status: INPROGRESS, COMPLETED or DEAD."` //nolint:lll // a struct tag is one line
	Failure string `placeholder:"REASON" help:"Only jobs whose last failure has this reason, such as unavailable."`
	Runs    int    `placeholder:"N" help:"Only jobs with at least N failed runs; the most come first."`
	Limit   int    `placeholder:"N" default:"100" help:"End after N jobs (${default}); 0 lists all."`
	JSON    bool   `name:"json" help:"Print one JSON object for each job."`
}

// Help returns the text below the flags.
func (l *LedgerList) Help() string {
	return ledgerHelp + `

A job that comes back again and again and is not dead yet is found with
--status INPROGRESS --runs 5.

This reads the table from its beginning until there are enough jobs, which may
be the whole of it: in AWS, each 8 KB of it cost a read unit, whatever --status
says. The order is that of the table with --json, by id without.`
}

// Validate refuses an unknown status and a negative limit.
func (l *LedgerList) Validate() error {
	switch l.Status {
	case "", "INPROGRESS", "COMPLETED", "DEAD":
	default:
		return fmt.Errorf("--status %q: want INPROGRESS, COMPLETED or DEAD", l.Status)
	}
	if l.Runs < 0 {
		return fmt.Errorf("--runs %d: want at least 1", l.Runs)
	}
	if l.Limit < 0 {
		return fmt.Errorf("--limit %d: want at least 1, or 0 for all", l.Limit)
	}
	return l.LedgerTarget.Validate()
}

// Run lists the jobs.
func (l *LedgerList) Run(ctx context.Context, streams Streams) error {
	t, err := l.open(ctx)
	if err != nil {
		return err
	}
	if isTerminal(streams.Err) {
		fmt.Fprintf(streams.Err, "table %s holds about %s, and all may have to be read\n",
			t.Name, deadletters.Number(int(t.Items), "job", "jobs"))
	}
	shown := &shownJobs{command: l, encoder: newEncoder(streams.Out)}
	line := newProgress(streams.Err, "reading "+t.Name, int(t.Items))
	err = t.List(ctx, ledger.Filter{Status: l.Status, Prefix: l.prefix()}, func(jobs []ledger.Entry, read int) bool {
		line.steps(read)
		return shown.add(jobs)
	})
	line.clear()
	if !l.JSON && (err == nil || shown.n > 0) {
		l.show(streams.Out, t, shown.list)
	}
	if shown.full() {
		fmt.Fprintf(streams.Err, "ended after %s, and there may be more; --limit 0 lists all\n",
			deadletters.Number(shown.n, "job", "jobs"))
	}
	return l.explain(err)
}

// match reports whether the job has the failures that are looked for.
func (l *LedgerList) match(job *ledger.Entry) bool {
	_, reason := lastFailure(job)
	return job.Runs() >= l.Runs && (l.Failure == "" || reason == l.Failure)
}

// lastFailure returns the class and the reason of the verdict, or of the last failed run.
func lastFailure(job *ledger.Entry) (class, reason string) {
	if n := len(job.History.Attempts); n > 0 {
		class, reason = job.History.Attempts[n-1].Class, job.History.Attempts[n-1].Reason
	}
	if job.Verdict != nil {
		class, reason = job.Verdict.Class, job.Verdict.Reason
	}
	return class, reason
}

// shownJobs collects jobs for the table, and prints them at once in JSON.
type shownJobs struct {
	command *LedgerList
	encoder *json.Encoder
	n       int
	list    []ledger.Entry
}

// add adds jobs up to the limit, and reports whether more can be added.
func (s *shownJobs) add(jobs []ledger.Entry) bool {
	jobs = slices.DeleteFunc(jobs, func(e ledger.Entry) bool { return !s.command.match(&e) })
	if left := s.command.Limit - s.n; s.command.Limit > 0 && len(jobs) > left {
		jobs = jobs[:left]
	}
	s.n += len(jobs)
	if !s.command.JSON {
		s.list = append(s.list, jobs...)
		return !s.full()
	}
	for i := range jobs {
		_ = s.encoder.Encode(newJobRow(&jobs[i], time.Now()))
	}
	return !s.full()
}

func (s *shownJobs) full() bool { return s.command.Limit > 0 && s.n >= s.command.Limit }

func (l *LedgerList) show(out io.Writer, t *ledger.Table, list []ledger.Entry) {
	if len(list) == 0 {
		what := strings.Join(strings.Fields("no "+l.Status+" jobs"), " ")
		if l.Queue != "" {
			what += " of queue " + strings.TrimSuffix(l.prefix(), "#")
		}
		fmt.Fprintf(out, "%s in table %s at %s\n", what, t.Name, l)
		return
	}
	slices.SortFunc(list, func(a, b ledger.Entry) int {
		if l.Runs > 0 {
			return cmp.Or(cmp.Compare(b.Runs(), a.Runs()), strings.Compare(a.ID, b.ID))
		}
		return strings.Compare(a.ID, b.ID)
	})
	fmt.Fprintln(out, jobTable(out, list, time.Now()))
}

// widestID is the maximum number of characters of an id in the list; --json
// prints the whole id.
const widestID = 64

// jobTable formats jobs as a table. Numbers are aligned to the right.
func jobTable(out io.Writer, list []ledger.Entry, now time.Time) string {
	r := lipgloss.NewRenderer(out)
	t := table.New().Border(lipgloss.NormalBorder()).BorderStyle(r.NewStyle().Faint(true)).
		Headers("job", "status", "state", "runs", "budget used", "last error", "expires in")
	for i := range list {
		t.Row(jobCells(&list[i], now)...)
	}
	t.StyleFunc(func(row, column int) lipgloss.Style {
		style := r.NewStyle().Padding(0, 1)
		if column == 3 || column == 4 || column == 6 {
			style = style.Align(lipgloss.Right)
		}
		if row == table.HeaderRow {
			style = style.Bold(true)
		}
		return style
	})
	return t.Render()
}

func jobCells(job *ledger.Entry, now time.Time) []string {
	failure, expires := decision(lastFailure(job)), unknown
	if job.Expires.After(now) {
		expires = age(job.Expires.Sub(now))
	}
	return []string{
		cut(oneLine(job.ID), widestID), oneLine(job.Status), stateText(job, now), strconv.Itoa(job.Runs()),
		strconv.Itoa(job.Attempts), cmp.Or(oneLine(failure), unknown), expires,
	}
}
