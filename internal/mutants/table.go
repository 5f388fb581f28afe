package main

import (
	"fmt"
	"strings"
)

// The marks around the section of docs/guarantees.md that this command writes.
const (
	tableBegins = "<!-- faults: written by go test ./internal/mutants -update -->"
	tableEnds   = "<!-- faults: end -->"
)

// table returns the faults as a Markdown table for each area.
func table(faults []fault) string {
	bySimulator := 0
	for i := range faults {
		if faults[i].Histories > 0 {
			bySimulator++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d faults: %d are caught by a test, %d by the simulator.\n",
		len(faults), len(faults)-bySimulator, bySimulator)
	area := ""
	for i := range faults {
		f := &faults[i]
		if f.area != area {
			area = f.area
			fmt.Fprintf(&b, "\n### %s\n\n| fault | what it does | harm | caught by |\n|---|---|---|---|\n", titles[area])
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, cell(f.Fault), cell(f.Harm), f.catcher())
	}
	return b.String()
}

// titles are the headings of the areas.
var titles = map[string]string{
	"classify":  "Errors and delays",
	"engine":    "The engine",
	"frontdoor": "The front door",
	"hosts":     "Hosts",
	"ledger":    "The ledger",
	"letters":   "Dead letters and calls to SQS",
	"simulator": "Whole system",
	"table":     "Conditions of the ledger's table",
	"template":  "The stack",
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// replaceTable returns the document with the table between its marks.
func replaceTable(document, table string) (string, error) {
	before, rest, begins := strings.Cut(document, tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the document lacks the marks %q and %q", tableBegins, tableEnds)
	}
	return before + tableBegins + "\n\n" + table + "\n" + tableEnds + after, nil
}
