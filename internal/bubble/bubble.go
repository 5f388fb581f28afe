// Package bubble runs tests in virtual time, and ends those in which it stands still.
package bubble

import (
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long nothing may move. The first is for a bubble that waits for a
// connection; the other also for locks and channels, for which a test may wait while
// something outside is prepared.
const (
	patience       = 10 * time.Second
	longerPatience = time.Minute
	looks          = 10 // within the shorter one
)

// Run calls f in a bubble of package synctest: that of the caller, or a new one. The
// clock of a bubble moves only while all its goroutines wait for each other. One that
// waits for something outside, such as a connection, makes the test hang. In a new
// bubble Run finds that, and panics with the remedy; who is the function that runs f.
func Run(t *testing.T, who string, f func(t *testing.T)) {
	t.Helper()
	if Inside() {
		f(t)
		return
	}
	w := watch{
		every: patience / looks, connection: looks, other: int(longerPatience / patience * looks),
		stuck: func(stacks string) { panic(explain(who, t.Name(), stacks)) },
	}
	w.run(t, f)
}

// Inside tells whether the caller is in a bubble, which only a panic gives away.
func Inside() (inside bool) {
	defer func() { inside = recover() == nil }()
	synctest.Wait()
	return true
}

func explain(who, test, stacks string) string {
	return who + ": " + test + " hangs: in virtual time the function waits for something outside of the test's bubble, " +
		"and the clock stands still until that ends. Usually it is a connection, to an httptest.Server or to a database; " +
		"one that is merely kept alive is enough. A lock that is held during a delay does it too. Give the function a " +
		"fake, for HTTP an http.RoundTripper, or call RunRealTime in place of Run. It waits here:\n\n" + stacks
}
