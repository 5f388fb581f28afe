package costs_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/costs"
)

var update = flag.Bool("update", false, "write the tables of docs/costs.md")

func TestABillIsWhatItsPartsCost(t *testing.T) {
	t.Parallel()
	prices := costs.Prices{
		WriteUnit: 1e-6, Request: 2e-6, Invocation: 3e-6, GigabyteSecond: 8e-3, LogGigabyte: 4, StoredGigabyte: 5,
	}
	got := prices.Million(costs.Job{
		Units: 2, Own: 0.1, Source: 0.2, Processor: 1e-3 * costs.ProcessorShare, RoundTrips: 1.8, Logged: 1 << 30,
		Stored: 1<<30 - 100,
	})
	want := costs.Bill{
		Writes: 2, Queue: 0.6,
		Function: 0.3 + 1e5*0.010*0.125*8e-3, // 1 ms of the processor's time in full, and 9 ms of waiting
		Logs:     4e5, Storage: 5e6,
	}
	for _, part := range [][2]float64{
		{got.Writes, want.Writes}, {got.Queue, want.Queue}, {got.Function, want.Function},
		{got.Logs, want.Logs}, {got.Storage, want.Storage}, {got.Total(), want.Total()},
	} {
		if math.Abs(part[0]-part[1]) > 1e-6*part[1] {
			t.Errorf("%+v, want %+v", got, want)
			break
		}
	}
}

func TestTheDocumentHasTheTables(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "costs.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range map[string]string{"dollars": dollars(), "done": parts(), "quantities": quantities()} {
		begin, end := "<!-- table "+name+" -->\n\n", "\n<!-- end "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("there is no place for the table %s", name)
		}
		if diff := cmp.Diff(old, table); diff != "" && !*update {
			t.Errorf("the table %s changed (-published +now); if it was meant to, run with -update:\n%s", name, diff)
		}
		text = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// dollars are the totals of each kind of job.
func dollars() string {
	rows := [][]string{{"a million jobs", "done", "duplicate", "one failed run", "dead"}}
	for _, w := range costs.Ways() {
		row := []string{w.Name}
		for _, j := range []costs.Job{w.Done, w.Duplicate, w.Retry, w.Dead} {
			row = append(row, money(costs.Virginia().Million(j).Total()))
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// parts are those of the bill for jobs that are done.
func parts() string {
	rows := [][]string{{"a million jobs that are done", "writes", "SQS", "Lambda", "logs", "storage", "sum"}}
	for _, w := range costs.Ways() {
		b := costs.Virginia().Million(w.Done)
		rows = append(rows, []string{
			w.Name, money(b.Writes), money(b.Queue), money(b.Function), money(b.Logs), money(b.Storage), money(b.Total()),
		})
	}
	return table(rows)
}

// quantities are what the bills are computed from.
func quantities() string {
	rows := [][]string{{
		"a job", "kind", "write units", "calls of SQS", "processor ms", "billed ms at 128 MB", "log bytes", "item bytes",
	}}
	for _, w := range costs.Ways() {
		for i, j := range []costs.Job{w.Done, w.Duplicate, w.Retry, w.Dead} {
			rows = append(rows, []string{
				w.Name, []string{"done", "duplicate", "one failed run", "dead"}[i], number(j.Units), number(j.Own + j.Source),
				number(j.Processor * 1e3 / costs.Batch), number(j.Seconds() * 1e3 / costs.Batch), number(j.Logged / costs.Batch),
				number(j.Stored),
			})
		}
	}
	return table(rows)
}

func money(dollars float64) string { return fmt.Sprintf("$%.2f", dollars) }

func number(f float64) string {
	if f >= 100 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---" + strings.Repeat("|--:", len(row)-1) + "|\n")
		}
	}
	return b.String()
}
