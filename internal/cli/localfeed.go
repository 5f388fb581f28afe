package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/dlqui"
	"github.com/sqsafe/sqsafe/internal/local"
)

const (
	// keptOutcomes and keptLines are how many of the newest the page beside a local stack
	// knows, and longestLine how many bytes of each.
	keptOutcomes = 2000
	keptLines    = 5000
	longestLine  = 4 << 10
)

// localFeed keeps what a local stack tells for the page beside it. It is safe for concurrent
// use.
type localFeed struct {
	target *DLQTarget

	mu       sync.Mutex
	outcomes recent
	lines    recent
	counts   map[string]int
}

func newLocalFeed(target *DLQTarget) *localFeed {
	return &localFeed{
		target: target, outcomes: recent{most: keptOutcomes}, lines: recent{most: keptLines}, counts: map[string]int{},
	}
}

// recent is a ring of the newest happenings.
type recent struct {
	most, next int
	list       []dlqui.Happening
}

func (r *recent) add(h *dlqui.Happening) {
	if len(r.list) < r.most {
		r.list = append(r.list, *h)
		return
	}
	r.list[r.next] = *h
	r.next = (r.next + 1) % r.most
}

// newest returns at most n that match, the newest first.
func (r *recent) newest(match func(*dlqui.Happening) bool, n int) []dlqui.Happening {
	var found []dlqui.Happening
	for i := range r.list {
		h := &r.list[(r.next+len(r.list)-1-i)%len(r.list)]
		if len(found) == n {
			break
		}
		if match(h) {
			found = append(found, *h)
		}
	}
	return found
}

// event takes an event of the stack.
func (f *localFeed) event(e local.Event) {
	h := dlqui.Happening{
		Time: e.Time, Queue: e.Queue, Function: e.Function, MessageID: e.MessageID, RequestID: e.RequestID, Key: e.Key,
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind {
	case local.KindSent:
		f.counts["sent"]++
		return
	case local.KindOutput:
		h.Text = strings.ToValidUTF8(e.Line[:min(len(e.Line), longestLine)], "")
		f.lines.add(&h)
		return
	case local.KindOutcome:
		e.Key = "" // it stands beside the text
		h.Word, h.Text = e.Outcome, outcomeText(e)
	case local.KindDead:
		h.Word, h.DeadLetterQueue = "dead-lettered", e.DeadLetterQueue
		h.Text = "in " + e.DeadLetterQueue + " (" + cmp.Or(e.Reason, unknown) + ")"
	case local.KindFiltered:
		h.Word, h.Text = "filtered", "not for "+e.Function+": "+e.Reason
	case local.KindCrash, local.KindFailed:
		h.Word, h.Text = string(e.Kind), invocationText(e)
		h.MessageID = strings.Join(e.MessageIDs, " ")
	default:
		return
	}
	f.counts[h.Word]++
	f.outcomes.add(&h)
}

// Queues returns what the queues of the stack hold.
func (f *localFeed) Queues(ctx context.Context) ([]dlqui.LiveQueue, error) {
	client, err := f.target.client(ctx, "")
	if err != nil {
		return nil, err
	}
	urls, err := listQueues(ctx, client)
	if err != nil {
		return nil, f.target.explain(err, "")
	}
	rows, err := describeQueues(ctx, client, urls)
	if err != nil {
		return nil, f.target.explain(err, "")
	}
	(&Queues{Target: f.target.Target}).addAges(ctx, rows)
	all := make([]dlqui.LiveQueue, len(rows))
	for i, row := range rows {
		all[i] = dlqui.LiveQueue{Name: row.Name, Visible: row.Visible, InFlight: row.InFlight, Delayed: row.Delayed}
		if row.Oldest != nil {
			all[i].Oldest = time.Duration(*row.Oldest * float64(time.Second))
		}
	}
	return all, nil
}

// feedWords are the counts in their order; others follow by name.
var feedWords = []string{"sent", "done", "duplicate", "retry", "dead", "dead-lettered", "crash"}

// Counts returns what became of jobs.
func (f *localFeed) Counts() []dlqui.Count {
	f.mu.Lock()
	defer f.mu.Unlock()
	words := slices.Clone(feedWords)
	for _, word := range slices.Sorted(maps.Keys(f.counts)) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	counts := make([]dlqui.Count, len(words))
	for i, word := range words {
		counts[i] = dlqui.Count{Name: word, N: f.counts[word]}
	}
	return counts
}

// Outcomes returns what became of jobs, the newest first.
func (f *localFeed) Outcomes(match func(*dlqui.Happening) bool, n int) []dlqui.Happening {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outcomes.newest(match, n)
}

// Lines returns what functions have written, the newest first.
func (f *localFeed) Lines(match func(*dlqui.Happening) bool, n int) []dlqui.Happening {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines.newest(match, n)
}
