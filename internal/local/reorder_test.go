package local

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReorderBufferRestoresTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		s := &reorderBuffer{emit: func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, e.Line)
		}}
		got := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(lines)
		}
		start := time.Now()
		at := func(ms int, line string) {
			s.add(Event{Time: start.Add(time.Duration(ms) * time.Millisecond), Line: line})
		}
		at(10, "deleted")
		at(5, "outcome")
		at(10, "after")
		if early := got(); len(early) != 0 {
			t.Errorf("handed on at once: %v", early)
		}
		<-time.After(200 * time.Millisecond)
		want := []string{"outcome", "deleted", "after"}
		if diff := cmp.Diff(want, got()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		at(5000, "from a clock ahead")
		at(300, "present")
		<-time.After(time.Second)
		if diff := cmp.Diff(append(want, "present"), got()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		s.flush()
		if diff := cmp.Diff(append(want, "present", "from a clock ahead"), got()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestManyEventsComeOutOnceAndInOrder sends more than one release takes, some of them late.
func TestManyEventsComeOutOnceAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []Event
		flushed := 0
		r := reorderBuffer{emit: func(e Event) { got = append(got, e) }, emitted: func() { flushed = len(got) }}
		const n = 5000
		for i := range n {
			<-time.After(time.Duration(i%7) * 100 * time.Microsecond)
			late := time.Duration(i%13) * time.Millisecond // less than lag
			r.add(Event{Time: time.Now().Add(-late), Attempt: i})
		}
		r.flush()
		seen := map[int]bool{}
		for i, e := range got {
			seen[e.Attempt] = true
			if i > 0 && e.Time.Before(got[i-1].Time) {
				t.Fatalf("event %d is of %v, after one of %v", i, e.Time, got[i-1].Time)
			}
		}
		if len(got) != n || len(seen) != n || flushed != n || len(r.waiting) != 0 {
			t.Errorf("%d events, %d different, %d flushed, %d left; want %d", len(got), len(seen), flushed, len(r.waiting), n)
		}
	})
}
