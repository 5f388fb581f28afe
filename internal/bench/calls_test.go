package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/tally"
)

// The calls of ten jobs do not depend on the machine. docs/costs.md is computed from them.
func TestCallsOfPrograms(t *testing.T) {
	t.Parallel()
	programs, err := buildAll(t.Context(), t.TempDir(), []own{
		{folder: "byhand", atOnce: 10}, {folder: "start", atOnce: 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	counted, err := countCalls(t.Context(), programs)
	if err != nil {
		t.Fatal(err)
	}
	type calls = map[string]int
	want := map[string][]calls{
		"byhand": {{"PutItem": 10, "UpdateItem": 10}, {"PutItem": 10}, {"PutItem": 10, "DeleteItem": 10}},
		"start":  {{"UpdateItem": 20}, {"UpdateItem": 10}, {"UpdateItem": 20, "ChangeMessageVisibilityBatch": 1}},
	}
	for _, c := range counted {
		got := []calls{c.fresh.Calls, c.known.Calls, c.failing.Calls}
		if diff := cmp.Diff(want[c.program], got); diff != "" {
			t.Errorf("%s: calls of new, known and failing jobs (-want +got):\n%s", c.program, diff)
		}
		if c.itemBytes < 50 || c.itemBytes > 1024 || c.fresh.Bytes < 10_000 {
			t.Errorf("%s: items of %d bytes, and %d bytes sent", c.program, c.itemBytes, c.fresh.Bytes)
		}
	}
}

func TestCallsTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := writeCalls(&b, []called{{
		program: "ours", jobs: 10, itemBytes: 280, logBytes: 17,
		fresh:   tally.Count{Calls: map[string]int{"UpdateItem": 20}, Bytes: 28_000},
		known:   tally.Count{Calls: map[string]int{"UpdateItem": 10}},
		failing: tally.Count{Calls: map[string]int{"UpdateItem": 20, "ChangeMessageVisibilityBatch": 1}},
	}}); err != nil {
		t.Fatal(err)
	}
	want := "| with DynamoDB | new job | duplicate | failed run | bytes sent for a new job | its item | log of a batch |\n" +
		"| --- | --: | --: | --: | --: | --: | --: |\n" +
		"| ours | 2 UpdateItem | 1 UpdateItem | 0.1 ChangeMessageVisibilityBatch, 2 UpdateItem | 2800 | 280 B | 17 B |\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
