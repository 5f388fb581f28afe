package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// slow is a pair of queues that take a time for each call.
type slow struct {
	*queues
	mu             sync.Mutex
	each           time.Duration
	sending, most  int
	confirms, peak int
}

func (s *slow) Send(ctx context.Context, letters []handler.Letter) {
	s.count(&s.sending, &s.most, 1)
	defer s.count(&s.sending, &s.most, -1)
	select {
	case <-time.After(s.each):
		s.queues.Send(ctx, letters)
	case <-ctx.Done():
		for i := range letters {
			letters[i].Err = ctx.Err()
		}
	}
}

func (s *slow) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	for pack := range slices.Chunk(changes, 10) {
		select {
		case <-time.After(s.each):
			s.queues.ChangeVisibility(ctx, pack)
		case <-ctx.Done():
			for i := range pack {
				pack[i].Err = ctx.Err()
			}
		}
	}
}

func (s *slow) count(n, most *int, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n += by
	*most = max(*most, *n)
}

func TestLettersGoInPacksWhileOthersRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		n     int
		bytes int
		packs []int
		most  int
	}{
		{"one", 1, 10, []int{1}, 1},
		{"ten", 10, 10, []int{10}, 1},
		{"full packs and a rest", 25, 10, []int{5, 10, 10}, 2},
		{"packs of a mebibyte", 5, 400 << 10, []int{1, 2, 2}, 2},
		{"one that fills a pack alone", 3, 1 << 20, []int{1, 1, 1}, 3},
		{"at most four calls at a time", 100, 10, []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, 4},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			q := &slow{queues: newQueues(), each: 900 * time.Millisecond}
			o := q.options()
			o.DeadLetter = q
			start := time.Now()
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				if strings.HasPrefix(m.Body, "poison") {
					return script["permanent"](ctx, m)
				}
				<-time.After(time.Minute)
				return nil
			})
			records := many(tt.n, "poison"+strings.Repeat("x", tt.bytes-6))
			var sent []time.Duration
			o.Hooks.OnDead = func(context.Context, handler.Letter, string) {
				q.queues.mu.Lock()
				defer q.queues.mu.Unlock()
				sent = append(sent, time.Since(start))
			}
			ids := handle(t, newProcessor(h, o), append(records, record("long", "x"))...)
			if len(ids) != 0 || len(q.letters) != tt.n {
				t.Errorf("reported %v, %d letters", ids, len(q.letters))
			}
			slices.Sort(q.packs)
			if diff := cmp.Diff(tt.packs, q.packs); diff != "" || q.most != tt.most && tt.most < 4 || q.most > 4 {
				t.Errorf("%d at a time, want %d; packs (-want +got):\n%s", q.most, tt.most, diff)
			}
			if full := tt.n / 10 * 10; full > 0 && sent[full-1] > 10*time.Second {
				t.Errorf("letters were sent after %v, want full packs to go while others run", sent)
			}
		})
	}
}

func TestConfirmsOfAPackRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &slow{queues: newQueues()}
		o := q.options()
		o.DeadLetter = q
		o.Ledger = verdicts(time.Hour, func(context.Context, string) error {
			q.count(&q.confirms, &q.peak, 1)
			defer q.count(&q.confirms, &q.peak, -1)
			<-time.After(time.Second)
			return nil
		})
		handle(t, newProcessor(byBody(script), o), many(10, "permanent")...)
		if q.peak != 10 {
			t.Errorf("%d confirms at a time, want 10", q.peak)
		}
	})
}

// faulty is a dead-letter queue and source that misbehaves in some way.
type faulty struct {
	*queues
	how     string
	release chan struct{}
}

func (f faulty) misbehave() {
	switch f.how {
	case "panics":
		panic("queue")
	case "ends its goroutine":
		runtime.Goexit()
	case "hangs":
		<-f.release
	}
}

func (f faulty) Send(ctx context.Context, letters []handler.Letter) {
	f.misbehave()
	f.queues.Send(ctx, letters)
	if f.how == "answers too few" {
		for i := len(letters) / 2; i < len(letters); i++ {
			letters[i].DeadLetterID, letters[i].Err = "", nil
		}
	}
}

func (f faulty) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	f.misbehave()
	f.queues.ChangeVisibility(ctx, changes)
}

func (f faulty) Delete(ctx context.Context, deletions []handler.Deletion) {
	f.misbehave()
	f.queues.Delete(ctx, deletions)
}

// A queue that misbehaves loses nothing. Where it hangs, the watchdog answers.
func TestAQueueThatMisbehavesLosesNothing(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"panics", "ends its goroutine", "hangs", "answers too few", "fails in part"} {
		for _, timeout := range []time.Duration{time.Second, 30 * time.Second} {
			for _, crash := range []bool{false, true} {
				inBubble(t, fmt.Sprint(how, timeout, crash), func(t *testing.T) {
					s := newScene()
					f := faulty{s.queues, how, make(chan struct{})}
					defer close(f.release)
					s.timeout, s.options.DeadLetter, s.options.Queue, s.options.Concurrency = timeout, f, f, 2
					records := append(many(25, "permanent"), record("good", "good"), record("reset", "reset"))
					if how == "fails in part" {
						s.sendErr = map[string]error{"m03": errOdd, "m13": errOdd, "m24": errOdd}
					}
					if crash {
						records = append(records, record("boom", "100ms boom"))
					}
					ctx, cancel := s.context(t)
					defer cancel()
					response, crashed := end(ctx, s.processor(), records)
					if want := crash && how != "hangs"; crashed != want || (response == nil) != want {
						t.Fatalf("the process ends: %v, want %v", crashed, want)
					}
					if ctx.Err() != nil {
						t.Errorf("the batch took all of its time: %v", ctx.Err())
					}
					for _, r := range records {
						id := r.MessageId
						come := !slices.Contains(s.queues.deleted, id)
						if response != nil {
							come = slices.Contains(reported(*response), id)
						}
						if !come && id != "good" && !slices.Contains(s.dead(), id) {
							t.Errorf("%s is lost", id)
						}
						if !crash && how == "fails in part" && come != (s.sendErr[id] != nil || id == "reset") {
							t.Errorf("%s reported: %v", id, come)
						}
					}
				})
			}
		}
	}
}

// TestConfirmsThatMisbehave: the letter is sent, so the message is acknowledged.
func TestConfirmsThatMisbehave(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"panics", "hangs"} {
		inBubble(t, how, func(t *testing.T) {
			q := newQueues()
			f := faulty{q, how, make(chan struct{})}
			defer close(f.release)
			o := q.options()
			confirm := func(context.Context, string) error { f.misbehave(); return nil }
			o.Ledger = verdicts(time.Minute, confirm)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			response, err := newProcessor(byBody(script), o).Handle(ctx,
				event(record("m1", "permanent"), record("m2", "reset")))
			if err != nil || ctx.Err() != nil {
				t.Fatal(err, ctx.Err())
			}
			if diff := cmp.Diff([]string{"m2"}, reported(response)); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			got := q.logged(t, "dead letter not confirmed in the ledger", "messageId")
			if how == "panics" && !cmp.Equal(got, []string{"m1"}) {
				t.Errorf("logged %v", got)
			}
		})
	}
}

// TestTenThousandMessagesThatFail are settled, or stay reported, in the time
// that there is.
func TestTenThousandMessagesThatFail(t *testing.T) {
	t.Parallel()
	const n = 10_000
	tests := []struct {
		name                             string
		body                             string
		each, job                        time.Duration // of a call to a queue, and of a job
		concurrency                      int
		leastDead, leastHidden, leastRun int
	}{
		{"retry", "reset", 0, 0, 1, 0, n, n},
		{"retry, slow queue", "reset", 50 * time.Millisecond, 0, 8, 0, 300, n},
		{"dead", "permanent", 0, 0, 8, n, 0, n},
		{"dead, slow queue", "permanent", 50 * time.Millisecond, 2 * time.Millisecond, 1, n, 0, n},
		// No job starts while forty letters are on their way: those of a slow or silent
		// dead-letter queue come back without a run.
		{"dead, a queue slower than the jobs", "permanent", 200 * time.Millisecond, time.Millisecond, 8, 5000, 0, 5000},
		{"dead, a queue that never answers", "permanent", time.Hour, 0, 8, 0, 0, 40},
		{"more jobs than time", "reset", time.Millisecond, 10 * time.Millisecond, 1, 0, 5000, 2000},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			q := &slow{queues: newQueues(), each: tt.each}
			o := q.options()
			o.Logger, o.Breaker = slog.New(slog.DiscardHandler), -1
			o.DeadLetter, o.Queue, o.Concurrency = q, q, tt.concurrency
			ran := 0
			var mu sync.Mutex
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				mu.Lock()
				ran++
				mu.Unlock()
				if tt.job > 0 {
					<-time.After(tt.job)
				}
				return script[m.Body](ctx, m)
			})
			records := make([]events.SQSMessage, n)
			for i := range records {
				records[i] = record(fmt.Sprint("m", i), tt.body)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			response, err := newProcessor(h, o).Handle(ctx, event(records...))
			if err != nil || ctx.Err() != nil {
				t.Fatal(err, ctx.Err())
			}
			back, dead := map[string]bool{}, map[string]bool{}
			for _, id := range reported(response) {
				back[id] = true
			}
			for _, id := range q.dead() {
				dead[id] = true
			}
			for _, r := range records {
				if back[r.MessageId] == dead[r.MessageId] {
					t.Fatalf("%s: reported %v and dead %v", r.MessageId, back[r.MessageId], dead[r.MessageId])
				}
			}
			if len(dead) < tt.leastDead || len(q.hidden) < tt.leastHidden || ran < tt.leastRun {
				t.Errorf("%d dead, %d hidden, %d ran", len(dead), len(q.hidden), ran)
			}
		})
	}
}
