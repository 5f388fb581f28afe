package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"testing"
	"time"

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
// what it held after the first.
func TestNothingGrowsWithTheInvocations(t *testing.T) { //nolint:paralleltest // it counts goroutines
	p := newProcessor(byBody(script), &handler.Options{
		Concurrency: 4, Ledger: noLedger{}, DeadLetter: always{}, Queue: always{}, Logger: slog.New(slog.DiscardHandler),
	})
	invoke := func(i int) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		in := event(
			record(fmt.Sprintf("m-%d-1", i), "ok"), record(fmt.Sprintf("m-%d-2", i), "wait"),
			record(fmt.Sprintf("m-%d-3", i), "permanent"), record(fmt.Sprintf("m-%d-4", i), "ok"),
		)
		if _, err := p.Handle(ctx, in); err != nil {
			t.Fatal(err)
		}
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
	for range 100 { // the last workers are on their way out
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		runtime.Gosched()
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
}
