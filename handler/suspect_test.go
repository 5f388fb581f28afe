package handler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

func TestSuspectsRunLastAndAlone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 2, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = concurrency
			ids := s.run(t, record("s1", "suspect 1s"), record("m1", "1s"), record("s2", "suspect 1s reset"),
				record("m2", "2s"), record("s3", "suspect 1s"), record("m3", "1s"))
			if diff := cmp.Diff([]string{"s2"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			runs := s.runs()
			if diff := cmp.Diff([]string{"s1", "s2", "s3"}, runs[3:]); diff != "" {
				t.Errorf("ran last (-want +got):\n%s", diff)
			}
			for _, id := range []string{"s1", "s2", "s3"} {
				if len(s.beside[id]) != 0 {
					t.Errorf("%s ran beside %v", id, s.beside[id])
				}
			}
			s.before(t, "claim m3", "s1")
		})
	}
}

// counting counts how many messages are decoded.
type counting struct {
	handler.Func
	mu      sync.Mutex
	decoded int
}

func (c *counting) Prepare(_ context.Context, m *handler.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decoded++
	if strings.HasPrefix(m.Body, "undecodable") {
		panic("in Prepare")
	}
	return nil
}

func TestAllMessagesAreDecodedBeforeASuspectRuns(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.options.MaxReceives = 10
	h := &counting{}
	h.Func = s.taking(func(_ context.Context, m *handler.Message) error {
		if m.MessageId == "s1" && h.decoded != 4 {
			t.Errorf("%d messages decoded when the suspect runs, want all 4", h.decoded)
		}
		return nil
	})
	p := handler.NewProcessor(h, s.options)
	handle(t, p, record("m1", "x"), received(5, record("s1", "suspect")), record("m2", "undecodable"), record("m3", "x"))
	if h.decoded != 4 {
		t.Errorf("decoded %d times, want once each", h.decoded)
	}
	if diff := cmp.Diff([]string{"s1", "m1", "m3"}, s.runs()); diff != "" {
		t.Errorf("a suspect with half of its receives used goes first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m2"}, s.dead()); diff != "" {
		t.Errorf("dead (-want +got):\n%s", diff)
	}
}

// TestADecoderThatHangsBeforeASuspectRuns is given up as any other.
func TestADecoderThatHangsBeforeASuspectRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.MaxReceives = 30*time.Second, 10
		release := make(chan struct{})
		h := hanging{where: "prepare", hang: func() { <-release }}
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, handler.NewProcessor(h, s.options),
			event(received(5, record("s1", "suspect")), record("m1", "hang"), record("m2", "good")))
		if ctx.Err() != nil || s.outcomeOf(t, "m1", "reason") != handler.ReasonAbandoned {
			t.Errorf("%v; m1: %s", ctx.Err(), s.outcomeOf(t, "m1", "reason"))
		}
		for _, id := range []string{"s1", "m2"} {
			if s.outcomeOf(t, id, "outcome") != "deferred" || s.hidden[id] < time.Second {
				t.Errorf("%s: %s, hidden for %v", id, s.outcomeOf(t, id, "outcome"), s.hidden[id])
			}
		}
		close(release)
	})
}

func TestUrgentSuspectsGoFirst(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int][]string{
		4: {"m1", "m2", "s1"}, 5: {"s1", "m1", "m2"}, 9: {"s1", "m1", "m2"},
	} {
		for _, concurrency := range []int{1, 8} {
			inBubble(t, fmt.Sprint(receives, concurrency), func(t *testing.T) {
				s := newScene()
				s.options.MaxReceives, s.options.Concurrency = 10, concurrency
				s.run(t, record("m1", "1s"), record("m2", "2s"), received(receives, record("s1", "suspect 1s")))
				if concurrency == 1 {
					if diff := cmp.Diff(want, s.runs()); diff != "" {
						t.Errorf("order (-want +got):\n%s", diff)
					}
				}
				if len(s.beside["s1"]) != 0 {
					t.Errorf("the suspect ran beside %v", s.beside["s1"])
				}
				s.before(t, want[0], want[2])
			})
		}
	}
}

func TestLettersAreConfirmedBeforeASuspectRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.onSend = func(context.Context) { <-time.After(time.Second); s.note("send over") }
		s.options.Middleware = append(s.options.Middleware, verdict(time.Minute, func(context.Context, string) error {
			<-time.After(time.Second)
			s.note("confirm over")
			return nil
		}))
		s.run(t, record("s1", "suspect"), record("m1", "permanent"))
		s.before(t, "confirm over", "s1")
	})
}

// TestSuspectsOfTwoInvocationsRunAlone in the one process that both share.
func TestSuspectsOfTwoInvocationsRunAlone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency, s.options.Process = concurrency, &handler.Process{}
			s.onSend = func(context.Context) { s.note("send begins"); <-time.After(5 * time.Second); s.note("send over") }
			var both sync.WaitGroup
			both.Go(func() {
				s.run(t, record("s1", "suspect 3s"), record("m1", "1s"), record("s2", "suspect 3s"))
			})
			both.Go(func() {
				s.run(t, record("s3", "suspect 3s"), record("m2", "7s"), record("m3", "7s"), record("m4", "permanent"))
			})
			both.Wait()
			for _, id := range []string{"s1", "s2", "s3"} {
				if len(s.beside[id]) != 0 {
					t.Errorf("%s ran beside %v", id, s.beside[id])
				}
			}
			if len(s.runs()) != 7 {
				t.Errorf("ran %v, want all 7", s.runs())
			}
			if diff := cmp.Diff([]string{"m4"}, s.dead()); diff != "" {
				t.Errorf("dead (-want +got):\n%s", diff)
			}
			// No suspect starts between a send and its end.
			open := false
			for _, e := range s.events {
				open = e == "send begins" || open && e != "send over"
				if open && strings.HasPrefix(e, "s") && len(e) == 2 {
					t.Errorf("%s started while a dead letter was under way: %v", e, s.events)
				}
			}
		})
	}
}

// TestSuspectsThatAreNotReached come back with their claims given up.
func TestSuspectsThatAreNotReached(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		body   string // of a job that runs before them
		drain  bool
		reason string
		within time.Duration
	}{
		{"at the cut", "1h", false, handler.ReasonNoTime, 28 * time.Second},
		{"on drain", "9s", true, handler.ReasonCancelled, 9 * time.Second},
		{"after a crash", "3s boom", false, handler.ReasonAfterCrash, 3 * time.Second},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			s := newScene()
			s.timeout = 30 * time.Second
			start := time.Now()
			if tt.drain {
				time.AfterFunc(2*time.Second, func() { close(s.draining) })
			}
			func() {
				defer func() { _ = recover() }()
				s.run(t, record("s1", "suspect"), record("s2", "suspect"), record("m1", tt.body))
			}()
			if diff := cmp.Diff([]string{"m1"}, s.runs()); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			if time.Since(start) > tt.within {
				t.Errorf("took %v, want at most %v", time.Since(start), tt.within)
			}
			for _, id := range []string{"s1", "s2"} {
				s.before(t, "claim "+id, "abort "+id)
				if s.outcomeOf(t, id, "reason") != tt.reason || s.hidden[id] < time.Second || s.hidden[id] > 2*time.Second {
					t.Errorf("%s: %s after %v, want %s soon", id, s.outcomeOf(t, id, "reason"), s.hidden[id], tt.reason)
				}
			}
		})
	}
}

// TestSuspectsGoHomeAtOnceAfterACrash, while others still run, and on drain.
func TestSuspectsGoHomeAtOnceAfterACrash(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"1s boom", "1s"} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = 2
			s.options.Middleware = append([]handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					defer s.note("end " + m.MessageId)
					return next(ctx, m)
				}
			}}, s.options.Middleware...)
			if body == "1s" {
				time.AfterFunc(time.Second, func() { close(s.draining) })
			}
			func() {
				defer func() { _ = recover() }()
				s.run(t, record("s1", "suspect"), record("m1", body), record("m2", "3s"))
			}()
			s.before(t, "end s1", "end m2")
		})
	}
}

// TestASuspectThatWaitsForAnotherInvocation gives up when it is told to.
func TestASuspectThatWaitsForAnotherInvocation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, reason string
		drain              bool
		timeout            time.Duration
		at                 time.Duration // when the suspect comes back
	}{
		{"at its cut", "20s", handler.ReasonNoTime, false, 10 * time.Second, 8 * time.Second},
		{"on drain", "20s", handler.ReasonCancelled, true, 0, 2 * time.Second},
		{"after a crash there", "5s boom", handler.ReasonAfterCrash, false, time.Minute, 5 * time.Second},
		{"after a crash in middleware there", "5s outer", handler.ReasonAfterCrash, false, time.Minute, 5 * time.Second},
	}
	for _, tt := range tests {
		for _, body := range []string{"suspect", "plain"} {
			inBubble(t, tt.name+" "+body, func(t *testing.T) {
				other, s := newScene(), newScene()
				other.options.Process = &handler.Process{}
				other.options.Middleware = append([]handler.Middleware{func(next handler.Func) handler.Func {
					return func(ctx context.Context, m *handler.Message) error {
						err := next(ctx, m)
						if strings.HasSuffix(m.Body, "outer") {
							panic("in middleware")
						}
						return err
					}
				}}, other.options.Middleware...)
				s.options.Process = other.options.Process
				s.timeout = tt.timeout
				var both sync.WaitGroup
				both.Go(func() {
					defer func() { _ = recover() }()
					other.run(t, record("m1", "suspect "+tt.body))
				})
				synctest.Wait()
				start := time.Now()
				if tt.drain {
					time.AfterFunc(2*time.Second, func() { close(s.draining) })
				}
				ids := s.run(t, record("m2", body))
				if diff := cmp.Diff([]string{"m2"}, ids); diff != "" || len(s.runs()) != 0 {
					t.Errorf("ran %v; reported (-want +got):\n%s", s.runs(), diff)
				}
				if time.Since(start) != tt.at || s.outcomeOf(t, "m2", "reason") != tt.reason {
					t.Errorf("%s after %v, want %s after %v", s.outcomeOf(t, "m2", "reason"), time.Since(start), tt.reason, tt.at)
				}
				if body == "plain" && slices.Contains(s.events, "claim m2") {
					t.Error("m2 was claimed, for nothing")
				}
				both.Wait()
			})
		}
	}
}

// TestWhoLeavesTheLineHoldsUpNobody: those behind a suspect that has given up do
// not wait for what it waited for.
func TestWhoLeavesTheLineHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		process := &handler.Process{}
		start := time.Now()
		scenes := []*scene{newScene(), newScene(), newScene()}
		scenes[1].timeout = 10 * time.Second
		var all sync.WaitGroup
		var third time.Duration
		for i, body := range []string{"20s", "suspect", "x"} {
			scenes[i].options.Process = process
			all.Go(func() {
				scenes[i].run(t, record("m", body))
				if i == 2 {
					third = time.Since(start)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if third != 8*time.Second {
			t.Errorf("the third was through after %v, want as soon as the suspect had given up", third)
		}
	})
}

func TestTheGroupOfASuspectComesLast(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = concurrency
			ids := s.run(t, grouped("a", record("a1", "suspect 1s")), grouped("a", record("a2", "1s")),
				grouped("b", record("b1", "1s")), grouped("b", record("b2", "5s")))
			if len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			if diff := cmp.Diff([]string{"b1", "b2", "a1", "a2"}, s.runs()); diff != "" || len(s.beside["a1"]) != 0 {
				t.Errorf("a1 beside %v; order (-want +got):\n%s", s.beside["a1"], diff)
			}
		})
	}
}

func TestTheTurnIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		process := &handler.Process{}
		var order sync.Mutex
		var ran []string
		var all sync.WaitGroup
		for i, body := range []string{"4s", "suspect 1s", "1s"} {
			s := newScene()
			s.options.Process = process
			s.options.Hooks.OnBatch = func(context.Context, handler.Report) {
				order.Lock()
				defer order.Unlock()
				ran = append(ran, fmt.Sprint(i))
			}
			all.Go(func() { s.run(t, record("m", body)) })
			synctest.Wait()
		}
		all.Wait()
		if diff := cmp.Diff([]string{"0", "1", "2"}, ran); diff != "" {
			t.Errorf("who waits longest goes first (-want +got):\n%s", diff)
		}
	})
}

func TestAloneAndFirstOutsideOfABatch(t *testing.T) {
	t.Parallel()
	m := &handler.Message{SQSMessage: record("m1", "x")}
	if err := m.Alone(t.Context()); err != nil {
		t.Errorf("Alone: %v", err)
	}
	if twin, err := m.First(t.Context(), "job", "hash"); twin != nil || err != nil {
		t.Errorf("First: %v, %v", twin, err)
	}
}

// TestManySuspectsAreSentHomeAFewAtATime: each has a claim to give back.
func TestManySuspectsAreSentHomeAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		giving := newTrace()
		s.options.Middleware = append([]handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				err := next(ctx, m)
				if m.Body == "suspect" {
					defer giving.enter(m.MessageId)()
					<-time.After(10 * time.Millisecond)
				}
				return err
			}
		}}, s.options.Middleware...)
		time.AfterFunc(time.Second, func() { close(s.draining) })
		records := append(many(200, "suspect"), record("slow", "2s"))
		ids := s.run(t, records...)
		if len(ids) != 200 || giving.most > 16 || giving.most < 2 {
			t.Errorf("%d come back, %d at a time, want 200 and at most 16", len(ids), giving.most)
		}
	})
}
