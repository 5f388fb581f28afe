package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// writeTable writes the comparison of all programs with the first as a Markdown
// table.
func writeTable(w io.Writer, programs []program, all []*comparison) error {
	head := []string{"batch", "messages", programs[0].name}
	for _, p := range programs[1:] {
		head = append(head, p.name, "ratio", "quartiles", "wall ratio")
	}
	rows := [][]string{head, rule(len(head))}
	for _, c := range all {
		rows = append(rows, c.row(len(programs)))
	}
	return writeRows(w, rows)
}

// writeCompared writes a table of all programs for one shape, a line for each. Those with
// DynamoDB are compared with the first of them too.
func writeCompared(w io.Writer, programs []program, c *comparison) error {
	rows := [][]string{{
		c.name, "processor time", "to bare", "quartiles", "to two calls", "wall", "to bare",
	}, rule(7)}
	hand := slices.IndexFunc(programs, func(p program) bool { return p.remote })
	for i, p := range programs {
		cpu := c.ratio(i, processor)
		toHand := "–"
		if p.remote {
			toHand = fmt.Sprintf("%.2f", c.ratioTo(i, hand, processor).median)
		}
		rows = append(rows, []string{
			p.name, short(c.typical(i, processor)), fmt.Sprintf("%.2f", cpu.median),
			fmt.Sprintf("%.2f–%.2f", cpu.low, cpu.high), toHand,
			short(c.typical(i, wall)), fmt.Sprintf("%.2f", c.ratio(i, wall).median),
		})
	}
	if err := writeRows(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func writeRows(w io.Writer, rows [][]string) error {
	for _, cells := range rows {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func rule(columns int) []string {
	cells := []string{"---"}
	for range columns - 1 {
		cells = append(cells, "--:")
	}
	return cells
}

func (c *comparison) row(programs int) []string {
	cells := []string{c.name, fmt.Sprint(len(c.event.ids)), short(c.typical(0, processor))}
	for i := 1; i < programs; i++ {
		cpu := c.ratio(i, processor)
		cells = append(cells,
			short(c.typical(i, processor)),
			fmt.Sprintf("%.2f", cpu.median),
			fmt.Sprintf("%.2f–%.2f", cpu.low, cpu.high),
			fmt.Sprintf("%.2f", c.ratio(i, wall).median))
	}
	return cells
}

// short formats a duration with three digits.
func short(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	for _, unit := range []time.Duration{time.Millisecond, 100 * time.Microsecond, 10 * time.Microsecond} {
		if d >= 100*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Microsecond).String()
}
