package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// jobText describes a job for people: its state, why it is dead, and its failed
// runs.
func jobText(out io.Writer, job *ledger.Entry, now time.Time) string {
	r := lipgloss.NewRenderer(out)
	room := 0 // no limit
	if n := columns(out); n > 0 {
		room = max(n-labelWidth-3, 20)
	}
	text := &strings.Builder{}
	fmt.Fprintln(text, r.NewStyle().Bold(true).Render(oneLine(job.ID)))
	lines := slices.Concat(jobLines(job, now), verdictLines(job.Verdict), stepLines(job.Steps), otherLines(job.Other))
	for _, line := range lines {
		label := r.NewStyle().Faint(true).Render(fmt.Sprintf("%-*s", labelWidth, line.Name))
		fmt.Fprintf(text, "  %s %s\n", label, cut(oneLine(line.Value), room))
	}
	if len(job.History.Attempts) > 0 {
		fmt.Fprintln(text, historyTable(r, job.History, cmp.Or(columns(out), pipeWidth)))
	}
	return text.String()
}

const labelWidth = len("dead letter")

func jobLines(job *ledger.Entry, now time.Time) []Row {
	lines := []Row{
		{Name: "status", Value: job.Status},
		{Name: "state", Value: stateText(job, now)},
		{Name: "lease", Value: leaseText(job, now)},
		{Name: "died", Value: moment(job.DeadAt, now)},
		{Name: "dead letter", Value: job.DeadLetterID},
		{Name: "expires", Value: moment(job.Expires, now)},
		{Name: "runs", Value: runsText(job)},
		{Name: "budget used", Value: budgetText(job)},
		{Name: "claims", Value: claimsText(job)},
		{Name: "crashes", Value: positive(job.Crashes)},
		{Name: "epoch", Value: positive(job.Epoch)},
		{Name: "message id", Value: job.MessageID},
		{Name: "owner", Value: job.Owner},
		{Name: "payload", Value: job.Validation},
		{Name: "crashed at", Value: firstFrame(job.CrashStack)},
	}
	return slices.DeleteFunc(lines, func(r Row) bool { return r.Value == "" })
}

func verdictLines(v *handler.Failure) []Row {
	if v == nil {
		return nil
	}
	lines := []Row{
		{Name: "verdict", Value: decision(v.Class, v.Reason)},
		{Name: "rule", Value: v.Rule},
		{Name: "error", Value: v.Message},
		{Name: "types", Value: strings.Join(v.Types, ", ")},
		{Name: "fingerprint", Value: v.Fingerprint},
	}
	return slices.DeleteFunc(lines, func(r Row) bool { return r.Value == "" })
}

func stepLines(steps map[string]string) (lines []Row) {
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		lines = append(lines, Row{Name: "step", Value: name + ": " + steps[name]})
	}
	return lines
}

// otherLines formats attributes of other programs.
func otherLines(other map[string]any) (lines []Row) {
	for _, name := range slices.Sorted(maps.Keys(other)) {
		value, err := json.Marshal(other[name])
		if err != nil {
			value = []byte(err.Error())
		}
		lines = append(lines, Row{Name: oneLine(name), Value: string(value)})
	}
	return lines
}

// stateText describes the state of the job.
func stateText(job *ledger.Entry, now time.Time) string {
	switch state := job.State(now); state {
	case ledger.StateHeld:
		if job.Lease.IsZero() {
			return "held, without a lease"
		}
		return "held for another " + age(job.Lease.Sub(now))
	case ledger.StateWaiting:
		return "next attempt in " + age(job.Lease.Sub(now))
	case ledger.StateDue:
		return "next attempt due for " + age(now.Sub(job.Lease))
	case ledger.StateLeft:
		return "left by its owner " + age(now.Sub(job.Lease)) + " ago, outcome unknown"
	case ledger.StateSending:
		return "dead, its dead letter is being sent"
	case ledger.StateUnsent:
		return "dead, its dead letter is not confirmed"
	case ledger.StateExpired:
		return "expired, counts as forgotten"
	case ledger.StateUnknown:
		return "not known to sqsafe"
	default:
		return string(state)
	}
}

// leaseText returns the lease, or an empty text if it does not matter any more.
func leaseText(job *ledger.Entry, now time.Time) string {
	switch job.State(now) {
	case ledger.StateDone, ledger.StateDead, ledger.StateExpired:
		return ""
	default:
		return moment(job.Lease, now)
	}
}

// runsText counts the runs that failed, which is not what they cost.
func runsText(job *ledger.Entry) string { return strconv.Itoa(job.Runs()) + " failed" }

func budgetText(job *ledger.Entry) string {
	text := strconv.Itoa(job.Attempts)
	if job.Unclassified > 0 {
		text += fmt.Sprintf(", %d of it by unclassified errors", job.Unclassified)
	}
	return text
}

func claimsText(job *ledger.Entry) string {
	if job.Claims == 0 { // written by another program
		return ""
	}
	return fmt.Sprintf("%d, %d of them settled", job.Claims, job.Settled)
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// moment formats a time, and how far it is from now.
func moment(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.After(now):
		return at.Local().Format(time.DateTime) + ", in " + age(at.Sub(now))
	default:
		return at.Local().Format(time.DateTime) + ", " + age(now.Sub(at)) + " ago"
	}
}

func firstFrame(stack string) string {
	first, _, _ := strings.Cut(stack, "\n")
	return first
}

// historyTable formats the failed runs. Runs that were left out of the history
// have one row.
func historyTable(r *lipgloss.Renderer, h handler.History, width int) string {
	t := table.New().Border(lipgloss.NormalBorder()).BorderStyle(r.NewStyle().Faint(true)).
		Headers("run", "start", "took", "error", "next after", "message")
	const others = 96 // width of the other columns in characters
	last := 0
	for _, a := range h.Attempts {
		if h.Dropped > 0 && last > 0 && a.Number > last+1 {
			t.Row("…", fmt.Sprintf("%d runs left out", h.Dropped))
		}
		last = a.Number
		next := unknown
		if a.DelaySeconds > 0 {
			next = age(time.Duration(a.DelaySeconds * float64(time.Second)))
		}
		t.Row(strconv.Itoa(a.Number), a.Start.Local().Format(time.DateTime),
			a.End.Sub(a.Start.Time).Round(time.Millisecond).String(), decision(a.Class, a.Reason), next,
			cmp.Or(cut(oneLine(a.Message), max(width-others, 20)), unknown))
	}
	t.StyleFunc(func(row, _ int) lipgloss.Style {
		style := r.NewStyle().Padding(0, 1)
		if row == table.HeaderRow {
			style = style.Bold(true)
		}
		return style
	})
	return t.Render()
}
