package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// descriptors returns the number of open files of the process; 0 where the system does not
// say.
func descriptors() int {
	open, _ := os.ReadDir("/proc/self/fd")
	return len(open)
}

// always is a dead-letter queue and a source queue that do what is asked, and keep nothing.
type always struct{}

func (always) Send(_ context.Context, letters []handler.Letter) {
	for i := range letters {
		letters[i].DeadLetterID = "d"
	}
}

func (always) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	for i := range changes {
		changes[i].Done = true
	}
}

func (always) Delete(_ context.Context, deletions []handler.Deletion) {
	for i := range deletions {
		deletions[i].Done = true
	}
}

// A function runs for days in one process: what it holds after a thousand invocations is
// what it held after the first. Jobs succeed, fail, die, and run into the end of the time
// for jobs. A job that panics or ignores the end ends the process, so that nothing is left
// to grow.
func TestNothingGrowsWithTheInvocations(t *testing.T) { //nolint:paralleltest // it counts goroutines
	synctest.Test(t, func(t *testing.T) {
		work := map[string]func(context.Context, *handler.Message) error{"late": untilCancelled}
		maps.Copy(work, script)
		p := newProcessor(byBody(work), &handler.Options{
			Concurrency: 4, Ledger: noLedger{}, DeadLetter: always{}, Queue: always{}, Logger: slog.New(slog.DiscardHandler),
		})
		invoke := func(i int) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var records []events.SQSMessage
			for n, body := range []string{"ok", "wait", "permanent", "late", "ok"} {
				records = append(records, record(fmt.Sprintf("m-%d-%d", i, n), body))
			}
			if _, err := p.Handle(ctx, event(records...)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the last workers are on their way out
		}
		var before, after runtime.MemStats
		invoke(0)
		runtime.GC()
		runtime.ReadMemStats(&before)
		goroutines, files := runtime.NumGoroutine(), descriptors()
		const invocations = 1000
		for i := range invocations {
			invoke(i)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines after %d invocations, %d before", n, invocations, goroutines)
		}
		if n := descriptors(); n > files {
			t.Errorf("%d open files after %d invocations, %d before", n, invocations, files)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > invocations*100 {
			t.Errorf("%d bytes more are held after %d invocations", grown, invocations)
		}
	})
}

// untilCancelled works until it is told to stop.
func untilCancelled(ctx context.Context, _ *handler.Message) error {
	<-ctx.Done()
	return ctx.Err()
}
