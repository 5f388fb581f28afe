package backoff_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
)

var update = flag.Bool("update", false, "rewrite the figures in docs")

// published returns the path of a file in docs.
func published(name string) string { return filepath.Join("..", "docs", name) }

func TestFiguresAreAsPublished(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]plot{
		"backoff-seconds.svg":  shortDelays(),
		"backoff-jitter.svg":   kindsOfJitter(),
		"backoff-profiles.svg": profiles(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := p.svg()
			if *update {
				if err := os.WriteFile(published(name), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(published(name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the figure changed (-published +now); if it was meant to, run with -update:\n%s", diff)
			}
		})
	}
}

// The generated tables in the documentation are between comments with their
// names.
func TestTablesAreAsPublished(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(published("backoff.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, now := range map[string]string{
		"shares": shareTable(), "together": peakTable(func(s spread) [retries]float64 { return s.together }),
		"history": peakTable(func(s spread) [retries]float64 { return s.history }), "budgets": budgetTable(),
		"stepped": steppedTable(),
	} {
		begin, end := "<!-- table "+name+" -->\n\n", "\n<!-- end "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Errorf("there is no place for the table %s", name)
			continue
		}
		if diff := cmp.Diff(old, now); diff != "" && !*update {
			t.Errorf("the table %s changed (-published +now); if it was meant to, run with -update:\n%s", name, diff)
		}
		text = before + begin + now + end + after
	}
	if *update {
		if err := os.WriteFile(published("backoff.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shortDelays plots how rounding to whole seconds affects the first retries.
func shortDelays() plot {
	p := plot{
		title: "Where 10,000 jobs come back after their first failures",
		axis:  "seconds after the failure",
		x:     linear(plotRight-plotLeft, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16),
		y:     linear(barsHeight, herdSize, 0, 5_000, 10_000), barWide: 24,
	}
	for attempt := 1; attempt <= 4; attempt++ {
		for _, jitter := range []float64{0.20, 1} {
			h := comeBack(herdSize, backoff.Exponential{Jitter: jitter}, attempt, seeded(1))
			p.panels = append(p.panels, panel{
				fmt.Sprintf("after %d s, Jitter %.2f", 1<<(attempt-1), jitter), busiest(h), h,
			})
		}
	}
	return p
}

// kindsOfJitter compares the kinds of jitter after the fifth failure.
func kindsOfJitter() plot {
	const attempt, delay = 5, 16
	p := plot{
		title: "Where 10,000 jobs come back that fail together for the fifth time (16 s)",
		axis:  "seconds after the failure",
		x:     linear(plotRight-plotLeft, 36, 0, 4, 8, 12, 16, 20, 24, 28, 32),
		y:     linear(barsHeight, herdSize, 0, 5_000, 10_000), barWide: 12,
	}
	together := make(herd, delay+1)
	together[delay] = herdSize
	p.panels = append(p.panels, panel{"no jitter", busiest(together), together})
	for _, w := range ways() {
		h := comeBack(herdSize, w.profile, attempt, seeded(1))
		p.panels = append(p.panels, panel{strings.ReplaceAll(w.name, "`", ""), busiest(h), h})
	}
	return p
}

// profiles plots all retries of jobs whose dependency never recovers.
func profiles() plot {
	p := plot{
		title: "All retries of 10,000 jobs whose dependency does not come back",
		axis:  "seconds after the first failure; both scales are logarithmic",
		x:     logarithmic(plotRight-plotLeft, 1, 2_000, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1_260),
		y:     logarithmic(barsHeight, 1, herdSize, 1, 100, 10_000), barWide: 2,
	}
	for _, of := range []struct {
		title   string
		profile backoff.Profile
	}{
		{"equal intervals of 2 s, no jitter", naive{2 * time.Second, 64}},
		{"Exponential{}", backoff.Exponential{}},
		{"Exponential{Jitter: 1}", backoff.Exponential{Jitter: 1}},
		{"Constant{Interval: time.Minute}", backoff.Constant{Interval: time.Minute}},
		{"Stepped{}", backoff.Stepped{}},
	} {
		h := untilDead(herdSize, of.profile, seeded(1))
		h[0] = 0 // first runs, not retries
		p.panels = append(p.panels, panel{of.title, busiest(h), h})
	}
	return p
}

func busiest(h herd) string { return thousands(h.peak()) + " in the busiest second" }

// table formats a table whose columns, except the first, are numbers.
func table(rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|---%s|\n", strings.Repeat("|--:", len(row)-1))
		}
	}
	return b.String()
}

func delaysRow(first string, n int) []string {
	row := []string{first}
	for i := range n {
		row = append(row, fmt.Sprintf("%d s", 1<<i))
	}
	return row
}

func peakTable(of func(spread) [retries]float64) string {
	none := []string{"no jitter"}
	for i := range retries {
		none = append(none, fmt.Sprintf("%.2f", float64(int(1)<<i)))
	}
	rows := [][]string{delaysRow("exact delay", retries), none}
	for _, w := range ways() {
		row := []string{w.name}
		for _, peak := range of(w.spread) {
			row = append(row, fmt.Sprintf("%.2f", peak))
		}
		rows = append(rows, row)
	}
	return table(rows...)
}

// shareTable lists which share of the herd is retried in the busiest second.
func shareTable() string {
	const shown = 7
	rows := [][]string{delaysRow("exact delay", shown)}
	for _, w := range ways() {
		row := []string{w.name}
		for i := range shown {
			row = append(row, fmt.Sprintf("%.0f %%", 100*w.spread.together[i]/float64(int(1)<<i)))
		}
		rows = append(rows, row)
	}
	return table(rows...)
}

// steppedTable lists the peaks of Stepped, where 1,000 jobs fail together.
func steppedTable() string {
	rows := [][]string{{"setting", "after 60 s", "after 300 s", "after 900 s"}}
	for _, w := range steppedWays {
		row := []string{w.name}
		for step := range defaultSteps {
			jobs, ratio := steppedPeak(w.profile, step)
			row = append(row, fmt.Sprintf("%.1f (%d jobs)", ratio, jobs))
		}
		rows = append(rows, row)
	}
	return table(rows...)
}

// budgetTable lists the time from the first run of a job to its last.
func budgetTable() string {
	rows := [][]string{{"profile", "runs", "outlasts", "dead after at most"}}
	for _, p := range []struct {
		name    string
		profile backoff.Profile
	}{
		{"`Exponential{}`", backoff.Exponential{}},
		{"`Exponential{Jitter: 1}`", backoff.Exponential{Jitter: 1}},
		{"`Exponential{MaxAttempts: 12}`", backoff.Exponential{MaxAttempts: 12}},
		{"`Exponential{JitterKind: Equal}`", backoff.Exponential{JitterKind: backoff.Equal}},
		{"`Exponential{JitterKind: Full}`", backoff.Exponential{JitterKind: backoff.Full}},
		{"`Stepped{}`", backoff.Stepped{}},
		{"`Constant{Interval: time.Minute}`", backoff.Constant{Interval: time.Minute}},
	} {
		var least, most int
		for failure := 1; failure < p.profile.Attempts(); failure++ {
			least += int(p.profile.Delay(failure, always(0)).Seconds())
			most += int(math.Ceil(p.profile.Delay(failure, always(almostOne)).Seconds()))
		}
		rows = append(rows, []string{
			p.name, fmt.Sprint(p.profile.Attempts()), fmt.Sprintf("%d s", least), fmt.Sprintf("%d s", most),
		})
	}
	return table(rows...)
}
