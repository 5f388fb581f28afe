//go:build unix

// Package crashproof_test holds that a job which ends its process is stopped, and
// harms no other: with real processes behind the Runtime API.
package crashproof_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runLimit is many times what a scenario takes. On a busy machine a suspect may not find
// its process idle, and stays away for a minute each time.
const runLimit = 4 * time.Minute

func TestOnlyCulpritsDie(t *testing.T) {
	t.Parallel()
	r := newRig(t, build(t))
	results := r.all(t.Context())
	checkPace(t, results)
	for _, c := range culprits {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, got := range results[c.name] {
				t.Run(got.title(), func(t *testing.T) {
					t.Parallel()
					got.check(t)
				})
			}
		})
	}
}

// checkPace fails where too much was too slow to tell anything.
func checkPace(t *testing.T, results map[string][]result) {
	t.Helper()
	slow, n := 0, 0
	for _, some := range results {
		for _, got := range some {
			if n++; len(got.slow) > 0 {
				slow++
			}
		}
	}
	if 4*slow > 3*n {
		t.Errorf("%d of %d scenarios were too slow to count anything: give them less load, or more time", slow, n)
	}
}

// result is a scenario that has ended.
type result struct {
	*run
	ending ending
	took   time.Duration
	err    error
}

// all runs all scenarios side by side.
func (r *rig) all(ctx context.Context) map[string][]result {
	var mu sync.Mutex
	results := map[string][]result{}
	var running sync.WaitGroup
	longestFirst := func(a, b *run) int { return b.culprit.lost - a.culprit.lost }
	for _, run := range slices.SortedFunc(maps.Values(r.runs), longestFirst) {
		running.Go(func() {
			got := run.result(ctx)
			mu.Lock()
			defer mu.Unlock()
			results[run.name] = append(results[run.name], got)
		})
	}
	running.Wait()
	return results
}

func (r *run) result(ctx context.Context) result {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	start := time.Now()
	got := result{run: r, err: r.do(ctx)}
	got.took = time.Since(start)
	ending, err := r.ending(context.WithoutCancel(ctx))
	if got.ending = ending; got.err == nil {
		got.err = err
	}
	return got
}

func (got result) check(t *testing.T) {
	t.Helper()
	if got.err != nil {
		t.Error(got.err)
	}
	want, ending := got.want(), got.ending
	if len(got.slow) > 0 {
		t.Logf("too slow to count: %s", got.slow[0])
		want, ending = want.atAnySpeed(), ending.atAnySpeed()
		if got.takesAlong { // so many receives may not be enough then
			want.Jobs, ending.Jobs = got.culpritsOf(want.Jobs), got.culpritsOf(ending.Jobs)
		}
	}
	if diff := cmp.Diff(want, ending); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	output := strings.Join(got.output, "\n")
	if n := strings.Count(output, got.says); got.says != "" && n < got.lost[got.status] {
		t.Errorf("%q is said %d times, want it of each process that was lost", got.says, n)
	}
	t.Logf("%d processes in %s", got.started, got.took.Round(time.Millisecond))
	if t.Failed() {
		t.Log(output)
	}
}

func (s scenario) culpritsOf(all map[string]jobResult) map[string]jobResult {
	some := map[string]jobResult{}
	for _, j := range s.jobs {
		if j.culprit {
			some[j.ID] = all[j.ID]
		}
	}
	return some
}

// build builds the function as "sqsafe local" does.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "lambda.norpc",
		"-ldflags", "-s -w", "-o", binary, "./function")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return binary
}
