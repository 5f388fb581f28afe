package main

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/tally"
)

// The calls to the ledger do not depend on the machine, and neither do the write units:
// internal/costs has 1 for each write but those of a job's death.
func TestCallsOfPrograms(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the processor time of another process is only read on Linux")
	}
	programs, err := buildAll(t.Context(), t.TempDir(), withDynamoDB(10))
	if err != nil {
		t.Fatal(err)
	}
	counted, err := countCalls(t.Context(), programs, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range counted {
		for _, name := range []string{"ChangeMessageVisibilityBatch", "SendMessageBatch"} {
			if n := c.count.Calls[name]; n > 3 { // a batch that is slow sends in several calls
				t.Errorf("%s, %s: %d calls of %s", c.program, c.kind, n, name)
			}
			delete(c.count.Calls, name)
		}
		got = append(got, c.program+", "+c.kind+": "+c.callsPerJob())
		units := 1 // of a write
		if c.kind == dying {
			units = 2 // the failure record is in the item
		}
		if c.itemBytes > units*1024 || c.cpu <= 0 {
			t.Errorf("%s, %s: items of %d bytes need more than %d units a write, or %v is no time",
				c.program, c.kind, c.itemBytes, units, c.cpu)
		}
	}
	want := []string{
		"byhand, new: 1 PutItem, 1 UpdateItem",
		"byhand, duplicate: 1 PutItem",
		"byhand, fails, comes back: 1 DeleteItem, 1 PutItem",
		"start, new: 2 UpdateItem",
		"start, duplicate: 1 UpdateItem",
		"start, fails, comes back: 2 UpdateItem",
		"start, fails, dead: 3 UpdateItem",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls for each job (-want +got):\n%s", diff)
	}
}

func TestCallsTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := writeCalls(&b, []called{{
		program: "ours", kind: newJobs, jobs: 20, batches: 2, itemBytes: 280, logBytes: 34, cpu: 8 * time.Millisecond,
		count: tally.Count{Calls: map[string]int{"UpdateItem": 40, "SendMessageBatch": 2}, Bytes: 56_000},
	}}); err != nil {
		t.Fatal(err)
	}
	want := "| with DynamoDB | job | calls for a job | bytes sent for a job " +
		"| processor time of a batch | log of a batch | item |\n" +
		"| --- | --: | --: | --: | --: | --: | --: |\n" +
		"| ours | new | 0.1 SendMessageBatch, 2 UpdateItem | 2800 | 4ms | 17 B | 280 B |\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
