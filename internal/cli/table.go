package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"

	"github.com/sqsafe/sqsafe/internal/local"
)

// summary prints the table with the result of all jobs.
func (p *textPrinter) summary(s local.Summary, more []Row) {
	rows := slices.Concat(summaryRows(s), more)
	t := table.New().Border(lipgloss.NormalBorder()).BorderStyle(p.dim)
	for _, r := range rows {
		t.Row(r.Name, r.Value)
	}
	t.StyleFunc(func(row, column int) lipgloss.Style {
		style := p.bold.Bold(false).Padding(0, 1)
		if column == 0 {
			return style
		}
		style = style.Align(lipgloss.Right)
		if good := rows[row].Good; good != nil {
			return style.Inherit(p.styles[map[bool]string{true: "done", false: "dead"}[*good]])
		}
		return style
	})
	fmt.Fprintln(p.out, t.Render())
	p.flush()
}

func summaryRows(s local.Summary) []Row {
	rows := []Row{count("jobs in", s.Jobs), count("done", s.Done), count("duplicates recognised", s.Duplicates)}
	if s.Filtered > 0 {
		rows = append(rows, count("filtered out", s.Filtered))
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Dead)) {
		rows = append(rows, count("dead: "+reason, s.Dead[reason]))
	}
	if s.Letters > 0 {
		rows = append(rows, count("dead letters to a function", s.Letters), count("of them done", s.LettersDone))
	}
	if s.Attempts > 0 || s.Done == 0 { // not every function reports attempts
		rows = append(rows, count("attempts", s.Attempts))
	}
	if s.StoreDown > 0 {
		rows = append(rows, count("waits for the ledger", s.StoreDown))
	}
	if s.Unprotected > 0 {
		rows = append(rows, count("done unprotected", s.Unprotected))
	}
	if s.Crashes > 0 {
		rows = append(rows, count("crashes", s.Crashes))
	}
	lost := count("lost", s.Lost)
	lost.Good = new(bool)
	*lost.Good = s.Lost == 0
	return append(rows, lost, count("messages left", s.Left))
}

func count(name string, n int) Row { return Row{Name: name, Value: strconv.Itoa(n)} }
