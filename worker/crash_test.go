package worker_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/worker"
)

// crashing panics for b after a second; c takes as long as it is told to.
func crashing(c time.Duration) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		switch m.Body[:1] {
		case "b":
			after(time.Second)
			panic("boom")
		case "c":
			return work(ctx, c)
		}
		return nil
	}
}

// The queue is a FIFO one with groups of one message: they run in the order sent.
func TestPanicEndsTheWorker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		other   time.Duration // how long the job of the other batch takes
		ended   time.Duration
		outcome string
	}{
		{"the other batch finishes", 4 * time.Second, 4500 * time.Millisecond, "c1 done 1"},
		{"the other batch is cut off", time.Minute, 6 * time.Second, "c1 deferred after_crash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, "jobs.fifo", "30", func(w *world) {
				w.send("a1", "b1", "d1")
				r := w.start(worker.Options{Batches: 2}, crashing(tt.other))
				after(500 * time.Millisecond)
				w.send("c1")
				ended, err := r.result()
				crash, ok := errors.AsType[*worker.CrashError](err)
				if !ok || crash.Error() != "crash: panic: boom" || ended != tt.ended {
					t.Errorf("ended with %v after %v, want the panic after %v", err, ended, tt.ended)
				}
				if w.count("stack") != 1 {
					t.Error("the stack of the panic is not in the log")
				}
				journal, outcomes := w.seen()
				slices.Sort(outcomes) // of those of a batch, the last are written side by side
				want := []string{"a1 done 1", "b1 crash panic 1", tt.outcome, "d1 deferred after_crash"}
				if diff := cmp.Diff(want, outcomes); diff != "" {
					t.Errorf("outcomes (-want +got):\n%s", diff)
				}
				if text := strings.Join(journal, "\n"); !strings.Contains(text, "1s deleted a1") ||
					strings.Contains(text, "deleted b1") {
					t.Errorf("want only what is done deleted:\n%s", text)
				}
			})
		})
	}
}

func TestPanicWhileDrainingIsToldAsWell(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("b")
		r := w.start(worker.Options{}, crashing(0))
		after(500 * time.Millisecond)
		r.stop()
		if ended, err := r.result(); worker.ExitCode(err) != 2 || ended != time.Second {
			t.Errorf("ended with %v after %v, want the panic after 1s", err, ended)
		}
	})
}

// A middleware runs outside of the processor's own care for panics of jobs.
func TestGoexitInAHandlerEndsTheWorker(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{}, func(context.Context, *handler.Message) error {
			runtime.Goexit()
			return nil
		})
		if _, err := r.result(); worker.ExitCode(err) != 2 {
			t.Errorf("ended with %v, want a crash", err)
		}
	})
}

func TestBatchTimeout(t *testing.T) {
	t.Parallel()
	t.Run("a job that heeds it is retried", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			w.send("a")
			r := w.start(worker.Options{BatchTimeout: 20 * time.Second}, lasting(time.Hour))
			after(19 * time.Second)
			r.stop()
			if _, err := r.result(); err != nil {
				t.Error(err)
			}
			w.check([]string{"0s received a #1", "10s visibility a 30s", "18s visibility a 4s"}, []string{"a retry deadline 1"})
		})
	})
	t.Run("a job that ignores it ends the worker", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			w.send("a")
			r := w.start(worker.Options{BatchTimeout: 20 * time.Second}, func(context.Context, *handler.Message) error {
				after(time.Minute)
				return nil
			})
			ended, err := r.result()
			if worker.ExitCode(err) != 2 || ended > 20*time.Second {
				t.Errorf("ended with %v after %v, want a crash before 20s", err, ended)
			}
			after(time.Minute)
		})
	})
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{
		0: nil, 1: errors.New("no queue"), 2: &worker.CrashError{Value: "boom"}, 3: worker.ErrForced,
	} {
		if got := worker.ExitCode(err); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}
