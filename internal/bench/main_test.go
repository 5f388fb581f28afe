package main

import (
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments string
		want            plan
		problem         string // part of the error; empty means none
	}{
		{"none", "", plan{rounds: 8, window: 400 * time.Millisecond}, ""},
		{"both", "-rounds 2 -window 10ms", plan{rounds: 2, window: 10 * time.Millisecond}, ""},
		{"quick has its own plan", "-quick -rounds 100", quickPlan, ""},
		{"with peers", "-compare -rounds 3", plan{rounds: 3, window: 400 * time.Millisecond, peers: true}, ""},
		{"peers have no limits", "-compare -quick", plan{}, "leave out -quick"},
		{"no rounds", "-rounds 0", plan{}, "0 rounds"},
		{"no window", "-window 0s", plan{}, "window of 0s"},
		{"unknown", "-fast", plan{}, "-fast"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(strings.Fields(test.arguments), io.Discard)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("error %v, want one with %q", err, test.problem)
				}
				return
			}
			if err != nil || s.plan != test.want {
				t.Errorf("plan %v and error %v, want %v", s.plan, err, test.want)
			}
		})
	}
}

func TestHelpExitsWithoutError(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := run(t.Context(), []string{"-h"}, &b); err != nil || !strings.Contains(b.String(), "-quick") {
		t.Errorf("error %v and text %q, want the flags", err, b.String())
	}
}

func TestProgressIsOneLineThatIsRemoved(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := plan{rounds: 2, progress: &b}
	err := p.measure(t.Context(), nil, []*comparison{{shape: shape{name: "ten"}, event: shape{messages: 1}.event()}})
	const empty = "\r\x1b[K"
	if want := empty + "ten: round 1 of 2" + empty + "ten: round 2 of 2" + empty; err != nil || b.String() != want {
		t.Errorf("progress %q and error %v, want %q", b.String(), err, want)
	}
}

func TestAShapeThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"-noise", "-shape", "7 × 7 B"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "-shape 7 × 7 B: no shape") {
		t.Errorf("error %v, want one that names the shape", err)
	}
}

// The programs do the same work: every answer is checked while they are
// measured.
func TestProgramsAreComparable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the processor time of another process is only read on Linux")
	}
	s := settings{plan: plan{rounds: 2, window: time.Millisecond}, tolerance: 1000}
	programs, err := buildAll(t.Context(), t.TempDir(), []own{{folder: "bare"}, {folder: "ours"}, {folder: "ledger"}})
	if err != nil {
		t.Fatal(err)
	}
	all := comparisons([]shape{
		{name: "one", messages: 1, bodyBytes: 200, again: 1},
		{name: "some fail", messages: 20, bodyBytes: 1000, failEvery: 10},
	})
	var b strings.Builder
	if err := s.compare(t.Context(), programs, all, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "some fail") || len(all[0].costs) != 4 || len(all[1].costs) != 2 {
		t.Errorf("%d and %d windows, want 4 and 2, in\n%s", len(all[0].costs), len(all[1].costs), b.String())
	}
	for _, c := range all {
		for i := range programs {
			if cpu := c.typical(i, processor); cpu < time.Microsecond || cpu > time.Second {
				t.Errorf("%s takes %v of processor time for %s", programs[i].name, cpu, c.name)
			}
		}
	}
}

func TestComparisonOverTheLimitIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the processor time of another process is only read on Linux")
	}
	s := settings{plan: plan{rounds: 1, window: time.Millisecond}, quick: true}
	programs, err := buildAll(t.Context(), t.TempDir(), []own{{folder: "bare"}, {folder: "ours"}})
	if err != nil {
		t.Fatal(err)
	}
	all := comparisons([]shape{{name: "one", messages: 1, bodyBytes: 200, limits: []float64{0.01}}})
	err = s.compare(t.Context(), programs, all, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "one: ours takes") || len(all[0].costs) != 2 {
		t.Errorf("error %v after %d windows, want a failure after 2", err, len(all[0].costs))
	}
}

func TestErrorNamesAProgramThatDoesNotStart(t *testing.T) {
	t.Parallel()
	programs := []program{{name: "missing", binary: filepath.Join(t.TempDir(), "missing")}}
	all := comparisons([]shape{{name: "one", messages: 1, bodyBytes: 200}})
	err := plan{rounds: 1, window: time.Millisecond}.measure(t.Context(), programs, all)
	if err == nil || !strings.Contains(err.Error(), "one: program missing") {
		t.Errorf("error %v, want the shape and the program", err)
	}
}

func TestBuildReportsCompilerErrors(t *testing.T) {
	t.Parallel()
	_, err := build(t.Context(), t.TempDir(), "./nothing")
	if err == nil || !strings.Contains(err.Error(), "building ./nothing") {
		t.Errorf("error %v, want the package", err)
	}
}
