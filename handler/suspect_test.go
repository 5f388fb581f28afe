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

	"github.com/sqsafe/sqsafe/fault"
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

// A suspect runs before the payload of a message behind it is decoded, which may hang.
func TestASuspectRunsBeforeOthersAreDecoded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.MaxReceives = 30*time.Second, 10
		release := make(chan struct{})
		h := hanging{where: "prepare", hang: func() { <-release }}
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, newProcessor(h, s.options),
			event(received(5, record("s1", "suspect")), record("m1", "hang"), record("m2", "good")))
		if ctx.Err() != nil || s.outcomeOf(t, "m1", "reason") != handler.ReasonAbandoned {
			t.Errorf("%v; m1: %s", ctx.Err(), s.outcomeOf(t, "m1", "reason"))
		}
		if !cmp.Equal([]string{"s1"}, s.queues.deleted) || s.outcomeOf(t, "m2", "reason") != handler.ReasonNoTime {
			t.Errorf("deleted %v, m2: %s", s.queues.deleted, s.outcomeOf(t, "m2", "reason"))
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
			})
		}
	}
}

func TestLettersAreConfirmedBeforeASuspectRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.onSend = func(context.Context) { <-time.After(time.Second); s.note("send over") }
		s.ledger.confirm = func(context.Context, string) error {
			<-time.After(time.Second)
			s.note("confirm over")
			return nil
		}
		s.run(t, record("s1", "suspect"), record("m1", "permanent"))
		s.before(t, "confirm over", "s1")
	})
}

// The crash that a lone run may be is counted before it, and nobody else starts until
// its own result is written.
func TestALoneRunIsCountedAndSettledAlone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency, s.ledger.settleTime = concurrency, time.Second
			s.run(t, record("s1", "suspect"), record("s2", "suspect"))
			want := []string{"count s1", "s1", "complete s1", "count s2", "s2", "complete s2"}
			got := slices.DeleteFunc(s.events, func(e string) bool { return strings.HasPrefix(e, "claim") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASuspectDoesNotRunUncounted(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.ledger.countErr = errOdd
	ids := s.run(t, record("s1", "suspect"), record("m1", "x"))
	if diff := cmp.Diff([]string{"s1"}, ids); diff != "" || !cmp.Equal([]string{"m1"}, s.runs()) {
		t.Errorf("ran %v, reported (-want +got):\n%s", s.runs(), diff)
	}
	if got := s.outcomeOf(t, "s1", "reason"); got != fault.ReasonStore || s.outcomeOf(t, "s1", "outcome") != "retry" {
		t.Errorf("the suspect came back for %s", got)
	}
	s.before(t, "count s1", "abort s1")
}

// Suspects of two batches run alone in the one process that both share.
func TestSuspectsOfTwoBatchesRunAlone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = concurrency
			s.onSend = func(context.Context) { s.note("send begins"); <-time.After(5 * time.Second); s.note("send over") }
			p := s.processor()
			var both sync.WaitGroup
			both.Go(func() {
				s.runIn(t, p, record("s1", "suspect 3s"), record("m1", "1s"), record("s2", "suspect 3s"))
			})
			both.Go(func() {
				s.runIn(t, p, record("s3", "suspect 3s"), record("m2", "7s"), record("m3", "7s"), record("m4", "permanent"))
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

// Suspects are released at once after a crash, while others still run, and on drain.
func TestSuspectsAreReleasedAtOnce(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"1s boom", "1s"} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = 2
			if body == "1s" {
				time.AfterFunc(time.Second, func() { close(s.draining) })
			}
			func() {
				defer func() { _ = recover() }()
				s.run(t, record("s1", "suspect"), record("m1", body), record("m2", "3s"))
			}()
			s.before(t, "abort s1", "complete m2")
		})
	}
}

// What finds the process taken by the lone run of another batch waits, and gives up
// when it is told to.
func TestWaitingForTheLoneRunOfAnotherBatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, reason string
		drain              bool
		timeout            time.Duration
		at                 time.Duration // when it comes back
	}{
		{"to its cut", "20s", handler.ReasonNoTime, false, 10 * time.Second, 8 * time.Second},
		{"until the drain", "20s", handler.ReasonCancelled, true, 0, 2 * time.Second},
		{"until a crash there", "5s boom", handler.ReasonAfterCrash, false, time.Minute, 5 * time.Second},
		{"until a crash in middleware there", "5s outer", handler.ReasonAfterCrash, false, time.Minute, 5 * time.Second},
	}
	for _, tt := range tests {
		for _, body := range []string{"suspect", "plain"} {
			inBubble(t, tt.name+" "+body, func(t *testing.T) {
				s := newScene()
				s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
					return func(ctx context.Context, m *handler.Message) error {
						err := next(ctx, m)
						if strings.HasSuffix(m.Body, "outer") {
							panic("in middleware")
						}
						return err
					}
				}}
				p := s.processor()
				var both sync.WaitGroup
				both.Go(func() {
					defer func() { _ = recover() }()
					_, _ = p.Handle(t.Context(), event(record("m1", "suspect "+tt.body)))
				})
				synctest.Wait()
				start := time.Now()
				s.timeout = tt.timeout
				if tt.drain {
					time.AfterFunc(2*time.Second, func() { close(s.draining) })
				}
				ids := s.runIn(t, p, received(2, record("m2", body)))
				if diff := cmp.Diff([]string{"m2"}, ids); diff != "" || !cmp.Equal([]string{"m1"}, s.runs()) {
					t.Errorf("ran %v; reported (-want +got):\n%s", s.runs(), diff)
				}
				if time.Since(start) != tt.at || s.outcomeOf(t, "m2", "reason") != tt.reason {
					t.Errorf("%s after %v, want %s after %v", s.outcomeOf(t, "m2", "reason"), time.Since(start), tt.reason, tt.at)
				}
				both.Wait()
				if slices.Contains(s.events, "claim m2") {
					t.Error("m2 was claimed, for nothing")
				}
			})
		}
	}
}

// A suspect that has given up holds up nobody any more.
func TestASuspectThatGaveUpHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		p := s.processor()
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() { s.runIn(t, p, record("m1", "20s")) })
		synctest.Wait()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, _ = p.Handle(ctx, event(record("s1", "suspect")))
		})
		synctest.Wait()
		s.runIn(t, p, record("m2", "x"))
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("the third was through after %v, want as soon as the suspect had given up", took)
		}
		all.Wait()
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

// A suspect keeps others from starting while it waits for the process to be idle.
func TestASuspectHoldsTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		p := s.processor()
		var all sync.WaitGroup
		for id, body := range map[string]string{"m1": "4s", "s1": "suspect 1s", "m2": "1s"} {
			all.Go(func() {
				<-time.After(map[string]time.Duration{"m1": 0, "s1": time.Second, "m2": 2 * time.Second}[id])
				s.runIn(t, p, record(id, body))
			})
		}
		all.Wait()
		if diff := cmp.Diff([]string{"m1", "s1", "m2"}, s.runs()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// E3: a process that is never idle. The suspect holds others back for half a minute, is
// then released for at least a minute, and no suspect holds the process for five minutes.
func TestASuspectDoesNotHoldABusyProcessForLong(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 3 * time.Hour} { // the limit is the hold's own, not that of a worker
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout = timeout
			p := s.processor()
			start := time.Now()
			var all sync.WaitGroup
			all.Go(func() { s.runIn(t, p, record("long", "2h")) })
			synctest.Wait()
			at := map[string]time.Duration{}
			for _, id := range []string{"s1", "s2"} {
				s.runIn(t, p, record(id, "suspect"))
				at[id] = time.Since(start)
				s.runIn(t, p, record("after-"+id, "x"))
				at["after-"+id] = time.Since(start)
			}
			<-time.After(5 * time.Minute)
			begin := time.Now()
			s.runIn(t, p, record("s3", "suspect"))
			at["s3"] = time.Since(begin)
			want := map[string]time.Duration{
				"s1": 30 * time.Second, "after-s1": 30 * time.Second, "s2": 30 * time.Second, "after-s2": 30 * time.Second,
				"s3": 30 * time.Second,
			}
			if diff := cmp.Diff(want, at); diff != "" {
				t.Errorf("through after (-want +got):\n%s", diff)
			}
			for _, id := range []string{"s1", "s2", "s3"} {
				if got := s.outcomeOf(t, id, "reason"); got != handler.ReasonNotAlone || s.hidden[id] < time.Minute {
					t.Errorf("%s: %s, hidden for %v", id, got, s.hidden[id])
				}
			}
			all.Wait()
		})
	}
}

// Want of aloneness is never a verdict: from three quarters of its receives on a suspect
// runs beside others, with nothing counted ahead. At the last one it waits for an idle
// process as long as it has time, and holds nobody back.
func TestASuspectWithFewReceivesLeft(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]struct {
		reason string
		after  time.Duration // until another message that comes meanwhile is through
	}{
		14: {handler.ReasonNotAlone, 30 * time.Second},
		15: {handler.ReasonNotAlone, 30 * time.Second},
		22: {handler.ReasonNotAlone, 30 * time.Second},
		23: {"", 30 * time.Second},
		29: {"", 30 * time.Second},
		30: {"", 10 * time.Second},
	} {
		inBubble(t, fmt.Sprint(receives), func(t *testing.T) {
			s := newScene()
			s.options.MaxReceives, s.timeout = 30, 15*time.Minute
			p := s.processor()
			var all sync.WaitGroup
			all.Go(func() { s.runIn(t, p, record("long", "14m")) })
			synctest.Wait()
			start := time.Now()
			all.Go(func() { s.runIn(t, p, received(receives, record("s1", "suspect"))) })
			all.Go(func() {
				<-time.After(10 * time.Second)
				s.runIn(t, p, record("m1", "x"))
				if got := time.Since(start); got != want.after {
					t.Errorf("another message was through after %v, want %v", got, want.after)
				}
			})
			all.Wait()
			got := s.outcomeOf(t, "s1", "reason")
			if ran := slices.Contains(s.runs(), "s1"); got != want.reason || ran != (want.reason == "") {
				t.Errorf("ran %v, reason %q", ran, got)
			}
			if receives < 30 && slices.Contains(s.events, "count s1") {
				t.Error("a run that is not alone was counted as a crash ahead")
			}
			if long := s.hidden["s1"] >= 5*time.Minute; want.reason != "" && long != (receives > 15) {
				t.Errorf("receive %d of 30: hidden for %v", receives, s.hidden["s1"])
			}
		})
	}
}

// A lone run without a deadline keeps others out for a minute: then its count is taken
// back, and they start beside it. What waits for longer than half a minute goes back.
func TestALongLoneRunLetsOthersStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		p := s.processor()
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() { s.runIn(t, p, record("s1", "suspect 2h")) })
		synctest.Wait()
		if ids := s.runIn(t, p, record("m1", "x")); len(ids) != 1 || time.Since(start) != 30*time.Second {
			t.Errorf("reported %v after %v", ids, time.Since(start))
		}
		if got := s.outcomeOf(t, "m1", "reason"); got != handler.ReasonNoSlot || s.hidden["m1"] < time.Second {
			t.Errorf("m1 came back for %s, hidden for %v", got, s.hidden["m1"])
		}
		<-time.After(10 * time.Second)
		if ids := s.runIn(t, p, record("m2", "x")); len(ids) != 0 || time.Since(start) != time.Minute {
			t.Errorf("reported %v after %v, want the run after a minute", ids, time.Since(start))
		}
		all.Wait()
		s.before(t, "count s1", "uncount s1")
		s.before(t, "uncount s1", "m2")
		if got := s.outcomeOf(t, "s1", "outcome"); got != "done" {
			t.Errorf("the lone run is %s", got)
		}
	})
}

// Many suspects that are not reached are all given back.
func TestManySuspectsAreReleasedOnDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.ledger.settleTime = 10 * time.Millisecond
		time.AfterFunc(time.Second, func() { close(s.draining) })
		start := time.Now()
		ids := s.run(t, append(many(200, "suspect"), record("slow", "2s"))...)
		if len(ids) != 200 || time.Since(start) > 2100*time.Millisecond {
			t.Errorf("%d come back after %v, want 200 when the last has run", len(ids), time.Since(start))
		}
	})
}

// TestASuspectWhoseCrashIsNotCountedInTime does not run. At its last receive it is dead, as all
// that find no time there: SQS would move it without a record.
func TestASuspectWhoseCrashIsNotCountedInTime(t *testing.T) {
	t.Parallel()
	for receives, outcome := range map[int]string{1: "deferred", 2: "dead"} {
		inBubble(t, outcome, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives, s.ledger.countErr = 10*time.Second, 2, context.DeadlineExceeded
			s.ledger.on = func(ctx context.Context, call string, _ *handler.Message) {
				if call == "count" {
					<-ctx.Done()
				}
			}
			s.run(t, received(receives, record("m1", "suspect good")))
			if got := s.outcomeOf(t, "m1", "outcome"); got != outcome || len(s.runs()) != 0 {
				t.Errorf("outcome %v, ran %v; want %s and no run", got, s.runs(), outcome)
			}
		})
	}
}

// TestASuspectDoesNotBeginOnceTheHostDrains: the signal came while its crash was counted. At its
// last receive it runs all the same.
func TestASuspectDoesNotBeginOnceTheHostDrains(t *testing.T) {
	t.Parallel()
	for receives, outcome := range map[int]string{1: "deferred", 2: "done"} {
		inBubble(t, outcome, func(t *testing.T) {
			s := newScene()
			s.options.MaxReceives = 2
			s.ledger.on = func(_ context.Context, call string, _ *handler.Message) {
				if call == "count" {
					close(s.draining)
				}
			}
			s.run(t, received(receives, record("m1", "suspect good")))
			if got := s.outcomeOf(t, "m1", "outcome"); got != outcome {
				t.Errorf("outcome %v, want %s", got, outcome)
			}
		})
	}
}
