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
