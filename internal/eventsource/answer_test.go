package eventsource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func batchOf(n int) []delivery {
	batch := make([]delivery, n)
	for i := range batch {
		batch[i].ID = fmt.Sprintf("m%d", i)
	}
	return batch
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"batchItemFailures":[{"itemIdentifier":"m0"}]}`, `{"batchItemFailures":[{"itemIdentifier":""}]}`,
		`{"batchItemFailures":[ null , 1]}`, `{"batchItemFailures": {} }`, `{"x":1}`, `[[]]`, `nul`, ` `,
	} {
		f.Add([]byte(seed))
	}
	batch := batchOf(3)
	f.Fuzz(func(t *testing.T, answer []byte) {
		v := read(answer, batch)
		if v.malformed != "" && (len(v.failed) > 0 || v.unnamed != "") {
			t.Errorf("%q is malformed and more: %+v", answer, v)
		}
		for id := range v.failed {
			if id != "m0" && id != "m1" && id != "m2" {
				t.Errorf("%q fails %q, which is not in the batch", answer, id)
			}
		}
		if v.malformed == "" && !json.Valid(answer) && strings.Trim(string(answer), " \t\r\n") != "" {
			t.Errorf("%q is not JSON, but accepted", answer)
		}
	})
}

func TestReadFindsExactlyWhatWasReported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "batch")
		reported := rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, "reported")
		type entry struct {
			ID string `json:"itemIdentifier"`
		}
		entries, want := []entry{}, map[string]bool{}
		for _, i := range reported {
			id := fmt.Sprintf("m%d", i)
			entries, want[id] = append(entries, entry{id}), true
		}
		answer, err := json.Marshal(map[string]any{"batchItemFailures": entries})
		if err != nil {
			t.Fatal(err)
		}
		v := read(answer, batchOf(n))
		if diff := cmp.Diff(want, v.failed); diff != "" || v.malformed != "" || v.unnamed != "" {
			t.Errorf("%s gives %+v", answer, v)
		}
	})
}

func TestSplitKeepsOrderAndLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(len(eventHead)+len(eventTail)+1, 100).Draw(t, "limit")
		var batch []delivery
		for i, size := range rapid.SliceOfN(rapid.IntRange(1, 60), 1, 12).Draw(t, "sizes") {
			batch = append(batch, delivery{Message: Message{ID: fmt.Sprint(i)}, json: make([]byte, size)})
		}
		var joined []delivery
		parts := split(batch, limit)
		for i, part := range parts {
			joined = append(joined, part...)
			if size := len(event(part)); size > limit && len(part) > 1 {
				t.Errorf("part %d: event of %d bytes, limit %d", i, size, limit)
			}
			if i > 0 && len(event(append(slices.Clip(parts[i-1]), part[0]))) <= limit {
				t.Errorf("part %d could have held the first message of the next", i-1)
			}
		}
		if len(joined) != len(batch) {
			t.Fatalf("%d messages in parts, want %d", len(joined), len(batch))
		}
		for i := range batch {
			if joined[i].ID != batch[i].ID {
				t.Errorf("message %d is %s, want %s", i, joined[i].ID, batch[i].ID)
			}
		}
	})
}
