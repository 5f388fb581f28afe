package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// held is what a process holds, as the kernel says.
type held struct{ resident, files, threads float64 }

func holds(t *testing.T, pid int) held {
	t.Helper()
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		t.Fatal(err)
	}
	count := func(folder string) float64 {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", pid, folder))
		if err != nil {
			t.Fatal(err)
		}
		return float64(len(entries))
	}
	return held{float64(pages * os.Getpagesize()), count("fd"), count("task")}
}

// A function whose jobs succeed, fail, die and run into timeouts holds after a thousand
// invocations what it held after the first hundred: memory, open files and threads. Its
// goroutines are counted in package handler.
func TestAProcessDoesNotGrow(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what a process holds is only read on Linux")
	}
	programs, err := buildAll(t.Context(), t.TempDir(), []own{{folder: "start", atOnce: 2}})
	if err != nil {
		t.Fatal(err)
	}
	programs[0].environment["BENCH_WORK"] = "mixed"
	r, err := programs[0].start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, remove := range r.services.atOnce {
		remove()
	}
	e := shape{messages: 2, bodyBytes: 200}.event()
	const tenths, invocations = 10, 100
	var levels [tenths]held
	for i := range levels {
		for n := range invocations {
			if _, err := r.function.Invoke(t.Context(), e.renewed(i*invocations+n)); err != nil {
				t.Fatal(err)
			}
		}
		levels[i] = holds(t, r.pid)
	}
	first, last := levels[0], levels[tenths-1]
	for _, level := range levels[tenths/2:] { // between two collections of garbage it is more
		last.resident = min(last.resident, level.resident)
	}
	calls := r.services.tally.Read().Calls
	if dead, failed := calls["SendMessageBatch"], calls["ChangeMessageVisibilityBatch"]; dead < 400 || failed < 400 {
		t.Errorf("%d batches of letters and %d of failed jobs, want 500 each", dead, failed)
	}
	if last.resident > first.resident*1.15 {
		t.Errorf("%.0f bytes are resident, %.0f after %d invocations: %+v",
			last.resident, first.resident, invocations, levels)
	}
	if last.files > first.files {
		t.Errorf("%v files are open, %v after %d invocations: %+v", last.files, first.files, invocations, levels)
	}
	if last.threads > first.threads+4 { // the runtime starts one where another waits for the kernel
		t.Errorf("%v threads, %v after %d invocations: %+v", last.threads, first.threads, invocations, levels)
	}
}
