package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/worker"
)

// A worker runs for weeks: between two jobs it has the goroutines and the open files
// that it had after the first ones, whatever became of its jobs. Memory is not asked for, since
// the queue and the store of the test are in it.
func TestAWorkerDoesNotGrow(t *testing.T) { //nolint:paralleltest // it counts goroutines
	inBubble(t, "jobs", "30", func(w *world) {
		w.concurrency = 4
		r := w.start(worker.Options{Batches: 2}, func(ctx context.Context, m *handler.Message) error {
			switch m.Body[0] {
			case 'r':
				return fault.Retryable(errors.New("later"))
			case 'd':
				return fault.Permanent(errors.New("no"))
			case 't':
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		runs := 0
		rounds := func(n int) {
			for i := range n {
				w.send(fmt.Sprint("o", i), fmt.Sprint("r", i), fmt.Sprint("d", i), fmt.Sprint("t", i))
				<-time.After(time.Second)
			}
			<-time.After(20 * time.Minute) // those that fail come back until they have no attempts left
			synctest.Wait()
			_, outcomes := w.seen()
			runs += len(outcomes)
		}
		rounds(1)
		goroutines, files := runtime.NumGoroutine(), openFiles()
		rounds(60)
		if runs < 1000 {
			t.Errorf("%d runs, want 1,000 or more", runs)
		}
		// What grows does so with each run. A few others come and go with the tests before.
		if n := runtime.NumGoroutine(); n > goroutines+30 {
			t.Errorf("%d goroutines after %d runs, %d before", n, runs, goroutines)
		}
		if n := openFiles(); n > files+30 {
			t.Errorf("%d open files after %d runs, %d before", n, runs, files)
		}
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
	})
}

// openFiles returns how many files the process has open; 0 where the system does not say.
func openFiles() int {
	open, _ := os.ReadDir("/proc/self/fd")
	return len(open)
}
