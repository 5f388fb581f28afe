package deadline_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

var (
	begin  = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	stages = []deadline.Stage{
		deadline.Cut, deadline.Leave, deadline.Settle, deadline.Letters, deadline.Hide, deadline.Answer,
	}
)

func table(seconds float64) deadline.Table { return deadline.New(begin, after(seconds), 0) }

func after(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

// since gives a time in seconds after the begin; -1 for none.
func since(t time.Time) float64 {
	if t.IsZero() {
		return -1
	}
	return t.Sub(begin).Seconds()
}

func stagesOf(t deadline.Table) []float64 {
	var at []float64
	for _, s := range stages {
		at = append(at, since(t.At(s)))
	}
	return at
}

func TestStages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table deadline.Table
		end   float64
		want  []float64
	}{
		{"30 s keep a tenth", table(30), 30, []float64{27, 27.75, 28.5, 29.1, 29.7, 29.85}},
		{"10 s keep the least reserve", table(10), 10, []float64{8, 8.5, 9, 9.4, 9.8, 9.9}},
		{"3 s keep half", table(3), 3, []float64{1.5, 1.875, 2.25, 2.55, 2.85, 2.925}},
		{"900 s keep a tenth", table(900), 900, []float64{810, 832.5, 855, 873, 891, 895.5}},
		{
			"a reserve that was chosen", deadline.New(begin, after(30), 10*time.Second), 30,
			[]float64{20, 22.5, 25, 27, 29, 29.5},
		},
		{
			"one that is more than half", deadline.New(begin, after(30), time.Minute), 30,
			[]float64{15, 18.75, 22.5, 25.5, 28.5, 29.25},
		},
		{"no time", table(0), 0, []float64{0, 0, 0, 0, 0, 0}},
		{"less than no time", table(-5), -5, []float64{-5, -5, -5, -5, -5, -5}},
		{"no limit", deadline.New(begin, time.Time{}, 0), -1, []float64{-1, -1, -1, -1, -1, -1}},
		{"the zero value", deadline.Table{}, -1, []float64{-1, -1, -1, -1, -1, -1}},
		{
			"no limit, cancelled", deadline.New(begin, time.Time{}, 0).Cancelled(after(60)), 70,
			[]float64{60, 61, 65, 67, 69, 69.5},
		},
		{"30 s, cancelled", table(30).Cancelled(after(5)), 15, []float64{5, 6, 10, 12, 14, 14.5}},
		{
			"30 s, cancelled when less than the grace is left", table(30).Cancelled(after(22)), 30,
			[]float64{22, 23, 26, 27.6, 29.2, 29.6},
		},
		{"30 s, cancelled after the cut", table(30).Cancelled(after(28)), 30, []float64{27, 27.75, 28.5, 29.1, 29.7, 29.85}},
		{"cancelled twice", table(30).Cancelled(after(5)).Cancelled(after(8)), 15, []float64{5, 6, 10, 12, 14, 14.5}},
		{
			"no limit, crashed", deadline.New(begin, time.Time{}, 0).Crashed(after(60)), 75,
			[]float64{65, 66, 70, 72, 74, 74.5},
		},
		{"30 s, crashed", table(30).Crashed(after(5)), 30, []float64{10, 15, 20, 24, 28, 29}},
		{"900 s, crashed", table(900).Crashed(after(5)), 900, []float64{10, 15, 455, 633, 811, 855.5}},
		{"30 s, crashed when less is left", table(30).Crashed(after(18)), 30, []float64{23, 24.75, 26.5, 27.9, 29.3, 29.65}},
		{"30 s, crashed close to the cut", table(30).Crashed(after(22)), 30, []float64{27, 27.75, 28.5, 29.1, 29.7, 29.85}},
		{"crashed twice", table(30).Crashed(after(5)).Crashed(after(8)), 30, []float64{10, 15, 20, 24, 28, 29}},
		{"crashed, then cancelled", table(30).Crashed(after(5)).Cancelled(after(6)), 16, []float64{6, 7, 11, 13, 15, 15.5}},
		{"cancelled, then crashed", table(30).Cancelled(after(5)).Crashed(after(6)), 15, []float64{5, 6, 10, 12, 14, 14.5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, stagesOf(tt.table)); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if got := since(tt.table.End()); got != tt.end {
				t.Errorf("end after %v s, want %v", got, tt.end)
			}
		})
	}
}

// TestPackageDocHasTheTable as it is.
func TestPackageDocHasTheTable(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("deadline.go")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Cut", "Leave", "Settle", "Letters", "Hide", "Answer"}
	shares := table(100)
	for i, s := range stages {
		reserve := shares.End().Sub(shares.At(deadline.Cut))
		percent := 100 * shares.At(s).Sub(shares.At(deadline.Cut)) / reserve
		line := fmt.Sprintf("//\t%-8s %5d %%", names[i], percent)
		for _, seconds := range []float64{3, 10, 30, 900} {
			line += fmt.Sprintf(" %7v", since(table(seconds).At(s)))
		}
		if !strings.Contains(string(source), line+"  ") {
			t.Errorf("the package's comment lacks %q", line)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	none := deadline.New(begin, time.Time{}, 0)
	if none.Bounded() || none.Reached(deadline.Cut, after(1e6)) ||
		!none.LastStart(time.Second).IsZero() {
		t.Errorf("without a limit: %+v", none)
	}
	if !none.Cancelled(begin).Bounded() || !none.Crashed(begin).Bounded() {
		t.Error("an invocation that was cancelled or has crashed has no limit")
	}
	some := table(30)
	if !some.Bounded() || !some.End().Equal(after(30)) {
		t.Errorf("the end of 30 s: %v", some.End())
	}
	if some.Reached(deadline.Leave, after(27.74)) || !some.Reached(deadline.Leave, after(27.75)) {
		t.Error("a stage is reached when it begins")
	}
	if !table(0).Reached(deadline.Cut, begin) || !table(-5).Reached(deadline.Answer, begin) {
		t.Error("where no time is left, all stages are reached")
	}
}

func TestLastStart(t *testing.T) {
	t.Parallel()
	for longest, want := range map[float64]float64{0: 27, 2: 25, 27: 0, 40: -13} {
		got := since(table(30).LastStart(time.Duration(longest * float64(time.Second))))
		if got != want {
			t.Errorf("runs of %v s: the last may start after %v s, want %v", longest, got, want)
		}
	}
	if got := since(table(30).Crashed(after(5)).LastStart(2 * time.Second)); got != 8 {
		t.Errorf("after a crash the last may start after %v s", got)
	}
}

func TestHadItsTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table deadline.Table
		half  float64 // of the time for jobs; 0 where no run has had its time
	}{
		{"30 s", table(30), 13.5},
		{"3 s", table(3), 0.75},
		{"900 s", table(900), 405},
		{"no time", table(0), 0},
		{"less than no time", table(-5), 0},
		{"no limit", deadline.New(begin, time.Time{}, 0), 0},
		{"no limit, cancelled", deadline.New(begin, time.Time{}, 0).Cancelled(after(60)), 0},
		{"no limit, crashed", deadline.New(begin, time.Time{}, 0).Crashed(after(60)), 0},
		{"30 s, cancelled", table(30).Cancelled(after(5)), 13.5},
		{"30 s, crashed", table(30).Crashed(after(5)), 13.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			half := after(tt.half).Sub(begin)
			if got := tt.table.HadItsTime(half); got != (tt.half > 0) {
				t.Errorf("after %v: %v", half, got)
			}
			if tt.table.HadItsTime(half - 1) {
				t.Errorf("after less than %v", half)
			}
			if got := tt.table.HadItsTime(time.Hour); got != (tt.half > 0) {
				t.Errorf("after an hour: %v", got)
			}
		})
	}
}

// Three quarters of the time for jobs: of 27 s in an invocation of 30.
func TestMostOfItsTime(t *testing.T) {
	t.Parallel()
	bounded, unbounded := table(30), deadline.New(begin, time.Time{}, 0)
	for seconds, want := range map[float64]struct{ had, has bool }{
		0: {false, true}, 6.75: {false, true}, 6.76: {false, false}, 20.24: {false, false}, 20.25: {true, false},
	} {
		at := after(seconds)
		had, has := bounded.HadMostOfItsTime(at.Sub(begin)), bounded.HasMostOfItsTime(at)
		if had != want.had || has != want.has {
			t.Errorf("%v s: had %v, has %v, want %+v", seconds, had, has, want)
		}
		if unbounded.HadMostOfItsTime(at.Sub(begin)) || !unbounded.HasMostOfItsTime(at) {
			t.Errorf("%v s without a deadline: want that no run had it, and that every run has it", seconds)
		}
	}
}

// TestStagesComeInOrder whatever happens, and neither the cut nor the end of an
// invocation with a limit is put off.
func TestStagesComeInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(low, high int, what string) float64 { return float64(rapid.IntRange(low, high).Draw(t, what)) / 10 }
		now := begin
		table := deadline.New(begin, after(seconds(-50, 1200, "time")), after(seconds(0, 200, "reserve")).Sub(begin))
		if rapid.Bool().Draw(t, "no limit") {
			table = deadline.New(begin, time.Time{}, 0)
		}
		for range rapid.IntRange(0, 4).Draw(t, "incidents") {
			now = now.Add(after(seconds(0, 300, "later")).Sub(begin))
			before := table
			if rapid.Bool().Draw(t, "crash") {
				table = table.Crashed(now)
			} else {
				table = table.Cancelled(now)
			}
			if before.Bounded() && (table.At(deadline.Cut).After(before.At(deadline.Cut)) || table.End().After(before.End())) {
				t.Fatalf("%v after %v is put off to %v", stagesOf(before), now, stagesOf(table))
			}
		}
		at := stagesOf(table)
		for i := range at[1:] {
			if at[i] > at[i+1] {
				t.Fatalf("stages out of order: %v", at)
			}
		}
		if at[len(at)-1] > since(table.End()) {
			t.Fatalf("%v are not before the end after %v", at, since(table.End()))
		}
	})
}

// A host names the end by the time of day. The table goes by the monotonic clock all the
// same, which nobody sets.
func TestATableDoesNotDependOnTheTimeOfDay(t *testing.T) {
	t.Parallel()
	start := time.Now()
	table := deadline.New(start, start.Add(30*time.Second).Round(0), 0)
	for stage := deadline.Cut; stage <= deadline.Answer; stage++ {
		if at := table.At(stage); !strings.Contains(at.String(), " m=") {
			t.Errorf("stage %d is at %v, which has no monotonic reading", stage, at)
		}
	}
}
