//go:build unix

// Package parity_test holds that a job ends the same way wherever it runs: as a
// Lambda function behind the Runtime API, in "sqsafe local", and in a worker.
package parity_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Many times what a run takes, and what its stop takes.
const (
	runLimit  = 50 * time.Second
	stopLimit = 20 * time.Second
)

func TestHostsAgree(t *testing.T) {
	t.Parallel()
	endings := runAll(t, build(t))
	for _, trial := range trials() {
		t.Run(trial.ID(), func(t *testing.T) {
			t.Parallel()
			for name := range hosts {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					want := trial.ends
					exception, differs := trial.but[name]
					if exception.ends != nil {
						want = *exception.ends
					}
					want, got := trial.comparable(want), trial.comparable(endings[name][trial.ID()])
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					if differs {
						t.Log(exception.because)
					}
				})
			}
		})
	}
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

// runAll runs all hosts side by side, each on a rig of its own with all of the
// table, and gives the endings by host and trial.
func runAll(t *testing.T, binary string) map[string]map[string]ending {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	var running sync.WaitGroup
	var mu sync.Mutex
	endings := map[string]map[string]ending{}
	for name, newHost := range hosts {
		r := newRig(t, binary)
		running.Go(func() {
			ends, err := r.run(ctx, newHost(r))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			endings[name] = ends
		})
	}
	running.Wait()
	for name, ends := range endings {
		if ends == nil {
			t.Fatalf("%s: nothing to compare", name)
		}
	}
	return endings
}

// run starts a host on full queues, so that the first batch is the same on
// every host, and stops it when nothing is left but what holds.
func (r *rig) run(ctx context.Context, h host) (map[string]ending, error) {
	if err := r.fill(ctx); err != nil {
		return nil, err
	}
	if err := h.start(ctx); err != nil {
		return nil, err
	}
	late := r.await(ctx) // it is of use to see how far the host has come
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	err := h.drain(ctx)
	close(r.provider.released)
	err = errors.Join(late, err, h.wait(ctx))
	ends, readErr := r.endings(ctx)
	return ends, errors.Join(err, readErr)
}

// await waits until every job that holds is running, and all others are done.
func (r *rig) await(ctx context.Context) error {
	for _, t := range r.trials {
		if !t.drained {
			continue
		}
		select {
		case <-r.provider.held:
		case <-ctx.Done():
			return fmt.Errorf("waiting for jobs that hold: %w", ctx.Err())
		}
	}
	select {
	case <-r.quiet:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for all jobs to end: %w", ctx.Err())
	}
}
