package system

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// environment says which histories are played: SQSAFE_HISTORIES of them from
// SQSAFE_SEED on, without the features and jobs in SQSAFE_WITHOUT.
func environment(t *testing.T, histories int) (first seed, n int, without []string) {
	t.Helper()
	number := func(name string, otherwise uint64) uint64 {
		value := os.Getenv(name)
		if value == "" {
			return otherwise
		}
		v, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	without = strings.FieldsFunc(os.Getenv("SQSAFE_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	return seed(number("SQSAFE_SEED", 1)), int(number("SQSAFE_HISTORIES", uint64(histories))), without
}

// TestMain does without the profile of the memory, which takes time at each allocation.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0
	m.Run()
}

func TestPromisesHoldInAllHistories(t *testing.T) {
	first, n, without := environment(t, 200)
	begin := time.Now()
	var mu sync.Mutex
	stats := map[string]int{}
	var calls, failures atomic.Int64
	var next atomic.Uint64
	var running sync.WaitGroup
	for range workers() {
		running.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= uint64(n) || failures.Load() >= mostFailures() {
					return
				}
				out := play(t, newConfig(first+seed(i), without))
				calls.Add(int64(out.calls))
				mu.Lock()
				for what, n := range out.stats {
					stats[what] += n
				}
				mu.Unlock()
				if os.Getenv("SQSAFE_SHOW") != "" {
					t.Logf("%v\n%s", out.config, out.excerpt)
				}
				if len(out.breaches) > 0 {
					failures.Add(1)
					fail(t, out)
				}
			}
		})
	}
	running.Wait()
	took := time.Since(begin)
	if os.Getenv("SQSAFE_STATS") != "" {
		for _, what := range slices.Sorted(maps.Keys(stats)) {
			t.Logf("%8d %s", stats[what], what)
		}
	}
	t.Logf("%d histories, %d calls, %.1f histories a second", n, calls.Load(), float64(n)/took.Seconds())
}

// firstOnly reports whether the first history that breaks a promise is enough, as it is:
// with a deliberate fault in the code, it only has to be found.
func firstOnly() bool { return os.Getenv("SQSAFE_FIRST") != "" }

// mostFailures is how many histories that break a promise end the test.
func mostFailures() int64 {
	if firstOnly() {
		return 1
	}
	return 5
}

func fail(t *testing.T, out *outcome) {
	t.Helper()
	var promises []string
	for _, b := range out.breaches {
		promises = append(promises, "  "+b.promise+": "+b.text)
	}
	short := out
	if !firstOnly() {
		short = shrink(t, out)
	}
	text := fmt.Sprintf("history %d:\n%s\nto repeat it: %s", out.config.seed, strings.Join(promises, "\n"), out.repeat())
	if name := keep(t, out); name != "" {
		text += "\nas it happened: " + name
	}
	if short != out {
		text += "\nin short: " + short.repeat()
	}
	t.Errorf("%s\n%v\n%s", text, short.config, short.excerpt)
}

// TestHistoriesRepeat plays histories twice and compares their journals: 999 of a thousand
// repeat exactly. By SQSAFE_HISTORIES=1000 it plays a thousand at once, else when one of
// fewer differs.
func TestHistoriesRepeat(t *testing.T) {
	first, n, without := environment(t, 50)
	differ := 0
	for i := 0; i < n; i++ {
		one, other := play(t, newConfig(first+seed(i), without)), play(t, newConfig(first+seed(i), without))
		diff := firstDifference(one.journal, other.journal)
		if diff == "" {
			continue
		}
		differ++
		t.Logf("history %d does not repeat:\n%s", first+seed(i), diff)
		n = max(n, 1000)
	}
	t.Logf("%d of %d histories repeat", n-differ, n)
	if differ > n/1000 {
		t.Errorf("%d of %d histories do not repeat", differ, n)
	}
}

// firstDifference is the first line in which two journals differ. Lines of the same
// moment have no order: they are of several goroutines.
func firstDifference(a, b []entry) string {
	for _, journal := range [][]entry{a, b} {
		slices.SortStableFunc(journal, func(x, y entry) int {
			return cmp.Or(cmp.Compare(x.at, y.at), strings.Compare(x.who+x.what, y.who+y.what))
		})
	}
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("line %d only in the second: %s", i, b[i])
		case i >= len(b):
			return fmt.Sprintf("line %d only in the first: %s", i, a[i])
		case a[i].String() != b[i].String():
			before := ""
			for _, e := range a[max(0, i-around()):i] {
				before += e.String() + "\n"
			}
			after := ""
			for k := i; k < min(i+around(), len(a), len(b)); k++ {
				after += fmt.Sprintf("< %s\n> %s\n", a[k], b[k])
			}
			return fmt.Sprintf("%sline %d:\n%s", before, i, after)
		}
	}
	return ""
}

// workers is how many histories are played at a time.
func workers() int {
	n, _ := strconv.Atoi(os.Getenv("SQSAFE_WORKERS"))
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	return n
}

// around is how many lines around a difference are shown.
func around() int {
	n, _ := strconv.Atoi(os.Getenv("SQSAFE_CONTEXT"))
	return max(n, 3)
}
