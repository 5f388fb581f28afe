package cli

import (
	"io"
	"strconv"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
)

// unknown is printed for a value that does not exist or is not known.
const unknown = "–"

// queueTable formats queues as a table. Numbers are aligned to the right.
func queueTable(out io.Writer, rows []queueRow) string {
	r := lipgloss.NewRenderer(out)
	t := table.New().Border(lipgloss.NormalBorder()).BorderStyle(r.NewStyle().Faint(true)).
		Headers("queue", "visible", "in flight", "delayed", "oldest", "dead-letter queue", "max receives")
	for _, row := range rows {
		t.Row(row.cells()...)
	}
	t.StyleFunc(func(row, column int) lipgloss.Style {
		style := r.NewStyle().Padding(0, 1)
		if column != 0 && column != 5 {
			style = style.Align(lipgloss.Right)
		}
		if row == table.HeaderRow {
			style = style.Bold(true)
		}
		return style
	})
	return t.Render()
}

func (r *queueRow) cells() []string {
	cells := []string{r.Name, strconv.Itoa(r.Visible), strconv.Itoa(r.InFlight), strconv.Itoa(r.Delayed),
		unknown, unknown, unknown}
	if r.Oldest != nil {
		cells[4] = age(time.Duration(*r.Oldest * float64(time.Second)))
	}
	if r.DeadLetterQueue != "" {
		cells[5], cells[6] = r.DeadLetterQueue, strconv.Itoa(r.MaxReceives)
	}
	return cells
}

// age formats a duration in its two largest units.
func age(d time.Duration) string {
	n := func(unit time.Duration) string { return strconv.Itoa(int(d / unit)) }
	rest := func(unit, of time.Duration) string { return strconv.Itoa(int(d % of / unit)) }
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return n(time.Second) + " s"
	case d < time.Hour:
		return n(time.Minute) + " min " + rest(time.Second, time.Minute) + " s"
	case d < day:
		return n(time.Hour) + " h " + rest(time.Minute, time.Hour) + " min"
	default:
		return n(day) + " d " + rest(time.Hour, day) + " h"
	}
}
