package replay_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// operator is somebody who replays: with clients of their own, which can lose the network.
type operator struct {
	testing.TB
	*replay.Operation

	line *line
}

// line is the connection of an operator.
type line struct {
	http.RoundTripper

	mu    sync.Mutex
	calls int
	cut   int  // the call at which the operator is killed; 0 means never
	after bool // the call that is cut is made, and its answer is lost
	dead  bool
}

var errKilled = errors.New("killed")

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.calls++
	if l.calls == l.cut {
		l.dead = true
		if l.after {
			l.mu.Unlock()
			if out, err := l.RoundTripper.RoundTrip(r); err == nil {
				_ = out.Body.Close()
			}
			return nil, errKilled
		}
	}
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return nil, errKilled
	}
	return l.RoundTripper.RoundTrip(r)
}

// isDead reports whether the operator was killed.
func (l *line) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// mortalFile is a journal of which nothing is written after the kill.
type mortalFile struct {
	io.WriteCloser
	line *line
}

func (f mortalFile) Write(p []byte) (int, error) {
	if f.line.isDead() {
		return 0, errKilled
	}
	return f.WriteCloser.Write(p)
}

// newOperator returns an operator who replays all letters of the stack's queue.
func newOperator(t testing.TB, s *letterstest.Stack, dir string, withLedger bool) *operator {
	t.Helper()
	cfg := localtest.Config(s.Server)
	l := &line{RoundTripper: s.Server.Transport()}
	cfg.HTTPClient = &http.Client{Transport: l}
	cfg.RetryMaxAttempts = 2
	q, err := deadletters.Open(t.Context(), sqs.NewFromConfig(cfg), s.DeadURL)
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{TB: t, line: l, Operation: &replay.Operation{Queue: q, Directory: dir, Who: "ann"}}
	if withLedger {
		if o.Table, err = ledger.Open(t.Context(), dynamodb.NewFromConfig(cfg), letterstest.Table); err != nil {
			t.Fatal(err)
		}
	}
	o.Options.Growth = -1
	o.WrapJournal(func(w io.WriteCloser) io.WriteCloser { return mortalFile{w, l} })
	l.calls = 0
	return o
}

// replay carries the whole operation out.
func (o *operator) replay() (replay.Summary, error) {
	pass, err := o.Look(o.Context())
	if err != nil {
		return replay.Summary{}, err
	}
	return o.Execute(o.Context(), pass)
}

func (o *operator) mustReplay() replay.Summary {
	o.Helper()
	sum, err := o.replay()
	if err != nil {
		o.Fatal(err)
	}
	return sum
}

// bodies returns the bodies in a queue in the order of receives, and empties it.
func bodies(s *letterstest.Stack, url string) []string {
	var list []string
	for _, m := range s.Drain(url) {
		list = append(list, *m.Body)
	}
	return list
}

// counted counts equal strings.
func counted(list []string) map[string]int {
	n := map[string]int{}
	for _, s := range list {
		n[s]++
	}
	return n
}

// buried returns a stack whose queue has n letters, each of a dead job.
func buried(t testing.TB, source string, n int, group func(i int) string) *letterstest.Stack {
	t.Helper()
	s := letterstest.New(t, source)
	for i := range n {
		s.Send(s.SourceURL, job(i), group(i), nil)
	}
	s.Work()
	return s
}

func job(i int) string { return fmt.Sprintf(`{"id":"j-%d","do":"declined"}`, i) }

func noGroup(int) string { return "" }

func twoGroups(i int) string { return string(rune('a' + i%2)) }

func count(t testing.TB, s *letterstest.Stack, url string) deadletters.Count {
	t.Helper()
	q, err := deadletters.Open(t.Context(), s.SQS, url)
	if err != nil {
		t.Fatal(err)
	}
	return q.Count
}
