package idem_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
	"github.com/sqsafe/sqsafe/internal/host"
)

// dies lets a run end its process without a word, and comes back when another
// may claim the job.
func (h *harness) dies(id string) {
	h.Helper()
	h.faults.Before = func(_ context.Context, c idemtest.Call) error {
		if c != idemtest.CallAcquire && c != "alone" {
			return errStore
		}
		return nil
	}
	h.fails(errTimeout)
	h.deliver(message(id, "a"))
	h.faults.Before = nil
	pass(invocationTime + 2*time.Second)
}

// suspected makes a suspect of a job: two of its claims ended without a result.
func (h *harness) suspected(id string) {
	h.Helper()
	h.dies(id)
	h.dies(id)
	h.calls, h.settlements, h.runs = nil, nil, 0
}

func TestAJobThatEndsItsProcessIsDeadInTime(t *testing.T) {
	t.Parallel()
	silent, panics := (*harness).dies, func(h *harness, id string) { h.job = explode; h.crash(id) }
	abandoned := func(h *harness, id string) {
		h.abandon(id)
		pass(invocationTime + 2*time.Second)
	}
	for name, ends := range map[string][]func(*harness, string){
		"two panics":                        {panics, panics},
		"four silent deaths":                {silent, silent, silent, silent},
		"abandoned twice":                   {abandoned, abandoned},
		"a panic and a silent death":        {panics, silent},
		"a silent death and panics":         {silent, panics, panics},
		"silent deaths, and one of a panic": {silent, silent, silent, panics},
		"silent deaths and panics":          {silent, silent, panics, panics},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				for _, end := range ends {
					end(h, "m1")
				}
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDead, idem.ReasonCrashLoop, len(ends))
			})
		})
	}
}

// Each row of the document is what happens.
func TestTheDocumentTellsWhenAJobThatEndsItsProcessIsDead(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*harness, string){
		"silent death": (*harness).dies,
		"panic":        func(h *harness, id string) { h.job = explode; h.crash(id) },
	}
	rows := idem.Document(t, "runs in a row end by", "the job is dead at claim")
	if len(rows) < 4 {
		t.Fatalf("the document has %d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				ends := strings.Split(row[0], ", ")
				for n, end := range ends {
					ways[end](h, "m1")
					if h.runs != n+1 {
						h.Fatalf("claim %d did not run the job", n+1)
					}
				}
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDead, idem.ReasonCrashLoop, len(ends))
				if row[1] != strconv.Itoa(len(h.requests)) {
					h.Errorf("the job is dead at claim %d, the document says %s", len(h.requests), row[1])
				}
			})
		})
	}
}

func TestTheCrashOfASuspectIsCountedBeforeItsRun(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.suspected("m1")
		h.job = func(context.Context, *handler.Message) error {
			if last := h.lastSettlement(); last.Kind != idem.SettleAlone || last.Crashes != 1 {
				h.Errorf("before the run %+v was written, want its crash", last)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		h.asks("acquire", "alone", "complete")
	})
}

func TestASuspectThatLivesIsForgiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"failed":      {errTimeout, 0},
		"not run":     {&handler.Result{Outcome: handler.OutcomeDeferred}, 1},
		"crash again": {&handler.PanicError{Value: "boom"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.job = explode
				h.crash("m1")
				h.fails(c.err)
				h.deliver(message("m1", "a"))
				if last := h.lastSettlement(); last.Crashes != c.want {
					h.Fatalf("%s writes %d crashes, want %d", last.Kind, last.Crashes, c.want)
				}
			})
		})
	}
}

// A run that has come to its end settles what came before it, too.
func TestARunThatEndsMakesASuspectAJobLikeAnyOther(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.suspected("m1")
		h.deliver(message("m1", "a"))
		pass(time.Hour)
		h.fails(nil)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		h.asks("acquire", "alone", "release", "acquire", "complete")
	})
}

func TestWhoseCrashCannotBeCountedDoesNotRun(t *testing.T) {
	t.Parallel()
	fails := func(_ context.Context, c idemtest.Call) error {
		if c == "alone" {
			return errStore
		}
		return nil
	}
	for name, breaks := range map[string]func(f *idemtest.Faulty){
		"the call":   func(f *idemtest.Faulty) { f.Before = fails },
		"its answer": func(f *idemtest.Faulty) { f.After = fails },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.suspected("m1")
				breaks(&h.faults)
				for range 4 {
					r := h.deliver(message("m1", "a"))
					h.want(r, handler.OutcomeRetry, fault.ReasonStore, 0)
					if r.Job.Attempts != 0 || !errors.Is(r.Err, errStore) {
						h.Fatalf("result is %+v, want the store's error and no attempt", r)
					}
				}
				h.faults.Before, h.faults.After = nil, nil
				h.fails(nil)
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
			})
		})
	}
}

func TestASlowCountOfACrashStartsNothing(t *testing.T) {
	t.Parallel()
	for reason, after := range map[string]func(ctx context.Context, cancel func()){
		handler.ReasonCancelled: func(_ context.Context, cancel func()) { cancel() },
		handler.ReasonNoTime:    func(ctx context.Context, _ func()) { <-ctx.Done() },
	} {
		for _, answered := range []bool{true, false} {
			scenario(t, func(h *harness) {
				h.suspected("m1")
				h.options.Key = func(context.Context, *handler.Message) (string, error) {
					pass(20 * time.Second) // so that the invocation ends before the call
					return "m1", nil
				}
				ctx, cancel := context.WithTimeout(h.Context(), invocationTime)
				defer cancel()
				h.faults.After = func(ctx context.Context, c idemtest.Call) error {
					if c != "alone" {
						return nil
					}
					after(ctx, cancel)
					if answered {
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				}
				h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, reason, 0)
				if last := h.lastSettlement(); last.Kind != idem.SettleAbort || last.Crashes != 0 {
					h.Errorf("settlement is %+v, want an abort that takes the crash back", last)
				}
			})
		}
	}
}

func TestASuspectThatWasTakenOverDoesNotRun(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.suspected("m1")
		h.faults.Before = func(_ context.Context, c idemtest.Call) error {
			if c == "alone" {
				r := h.requests[len(h.requests)-1]
				r.Owner, r.Now, r.Lease = "another", r.Now.Add(time.Hour), r.Lease.Add(time.Hour)
				_, _ = h.faults.Store.Acquire(h.Context(), r)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeBusy, idem.ReasonLate, 0)
		h.asks("acquire", "alone", "abort")
	})
}

func TestNobodyElseRunsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(h *harness)
		asks   []string
	}{
		"a job that failed": {
			func(h *harness) { h.fails(errTimeout) }, []string{"acquire", "release", "acquire", "release"},
		},
		"a job that was deferred": {
			func(h *harness) { h.fails(&handler.Result{Outcome: handler.OutcomeDeferred}) },
			[]string{"acquire", "abort", "acquire", "abort"},
		},
		"one claim without a result": {
			func(h *harness) { h.broken("complete") }, []string{"acquire", "complete", "acquire", "complete"},
		},
		"an unknown outcome": {func(h *harness) {
			h.options.DeadLetterUnknown = true
			h.broken("complete")
		}, []string{"acquire", "complete", "acquire", "verdict"}},
		"a letter": {func(h *harness) { h.fails(errCard) }, []string{"acquire", "verdict", "acquire"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				c.before(h)
				h.deliver(message("m1", "a"))
				pass(time.Hour)
				h.deliver(message("m1", "a"))
				h.asks(c.asks...)
			})
		})
	}
}

// TestASuspectRunsWhenNoOtherDoes has a suspect and four others in two
// invocations of one process.
func TestASuspectRunsWhenNoOtherDoes(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.suspected("suspect")
		h.shared(3)
		var mu sync.Mutex
		running := 0
		run := func(ctx context.Context, m *handler.Message) error {
			mu.Lock()
			running++
			if m.MessageId == "suspect" && running != 1 {
				h.Errorf("the suspect runs beside %d others", running-1)
			}
			mu.Unlock()
			err := until(ctx, 4*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if m.MessageId == "suspect" && running != 1 {
				h.Errorf("%d others began beside the suspect", running-1)
			}
			running--
			return err
		}
		first, second := h.invoke(3), h.invoke(3)
		first.job, second.job = run, run
		done := make(chan struct{})
		go func() {
			defer close(done)
			second.batch(message("m3", "a"), message("m4", "a"), message("m5", "a"))
		}()
		first.batch(received("suspect", "a", 3), message("m1", "a"), message("m2", "a"))
		<-done
		for _, i := range []*invocation{first, second} {
			for id := range i.results {
				i.ended(id, handler.OutcomeDone, "")
			}
		}
		if at := slices.Index(h.calls, "alone"); at < 0 || !slices.Contains(h.calls[:at], "complete") {
			h.Errorf("calls are %q, want the suspect behind others", h.calls)
		}
	})
}

func TestASuspectDiesWithoutTheOthers(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.posts = true
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.MessageId == "bomb" {
				panic("boom")
			}
			return nil
		}
		healthy := []string{"m1", "m2", "m3", "m4"}
		for range 3 {
			messages := []*handler.Message{message("bomb", "a")}
			for _, id := range healthy {
				messages = append(messages, message(id, "a"))
			}
			h.invoke(2).batch(messages...)
			pass(time.Minute)
		}
		last := h.invoke(1).batch(message("bomb", "a"), message("m1", "a"), message("m4", "a"))
		last.ended("bomb", handler.OutcomeDuplicate, idem.ReasonDeadBefore)
		last.ended("m1", handler.OutcomeDuplicate, idem.ReasonCompleted)
		last.ended("m4", handler.OutcomeDuplicate, idem.ReasonCompleted)
		if h.runs != 2+len(healthy) {
			h.Errorf("%d runs, want two of the bomb and one of each other", h.runs)
		}
	})
}

// waiting is a suspect that waits for another job of its process, which takes that
// long. Its own run takes as long again.
func (h *harness) waiting(long time.Duration) *invocation {
	h.Helper()
	h.suspected("suspect")
	h.requests = nil
	i := h.invoke(2)
	i.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, long) }
	return i
}

func TestAClaimIsKeptWhileItsSuspectWaits(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = 6 * time.Second
		i := h.waiting(25 * time.Second)
		copies := make(chan int)
		go func() {
			waited := 0
			for range 49 {
				pass(time.Second)
				h.mu.Lock()
				r := h.requests[slices.IndexFunc(h.requests, func(r idem.Request) bool { return r.MessageID == "suspect" })]
				h.mu.Unlock()
				r.Owner, r.Now, r.Lease = "copy", time.Now(), time.Now().Add(time.Second)
				if a, _ := h.faults.Store.Acquire(h.Context(), r); a.Kind == idem.AnswerBusy {
					waited++
				}
			}
			copies <- waited
		}()
		i.batchIn(h.Context(), message("suspect", "a"), message("long", "a"))
		i.ended("suspect", handler.OutcomeDone, "")
		if n := <-copies; n != 49 {
			h.Errorf("%d of 49 copies were told to wait", n)
		}
	})
}

func TestARenewalComesInTimeAfterAWait(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = 20 * time.Second
		i := h.waiting(25 * time.Second)
		// The renewals fail while the suspect waits, until shortly before its lease ends.
		h.down(10*time.Second, 24*time.Second, false)
		i.batchIn(h.Context(), message("suspect", "a"), message("long", "a"))
		i.ended("suspect", handler.OutcomeDone, "")
	})
}

// A lone run that lasts is counted no more. What it ends with is written after that, so
// that the count of a crash is not overwritten.
func TestALoneRunThatLastsIsSettledAfterItsCountIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, ignores := range []bool{false, true} {
		scenario(t, func(h *harness) {
			h.suspected("m1")
			h.options.Lease = 5 * time.Minute
			h.job = func(ctx context.Context, m *handler.Message) error {
				pass(62 * time.Second)
				return explode(ctx, m)
			}
			h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
				if call != "alone" || h.lastSettlement().Crashes != 0 {
					return nil
				}
				if ignores {
					pass(5 * time.Second)
					return nil
				}
				return until(ctx, 5*time.Second)
			}
			if i := h.invoke(1).batchIn(h.Context(), message("m1", "a")); !i.crashed {
				h.Fatal("the process goes on")
			}
			h.asks("acquire", "2 alone", "crash")
			pass(time.Hour)
			h.faults.Before = nil
			h.job = func(_ context.Context, m *handler.Message) error {
				if m.Job.Crashes != 1 {
					h.Errorf("crashes are %d, want the one that was marked", m.Job.Crashes)
				}
				return nil
			}
			h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		})
	}
}

// A process that is told to stop while the crash of a lone run is counted does not begin it.
func TestALoneRunDoesNotBeginAfterTheDrain(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.suspected("m1")
		before, draining := h.runs, make(chan struct{})
		h.faults.Before = func(_ context.Context, call idemtest.Call) error {
			if call == "alone" {
				close(draining)
				pass(time.Second)
			}
			return nil
		}
		i := h.invoke(1).batchIn(host.WithDraining(h.Context(), draining), message("m1", "a"))
		i.ended("m1", handler.OutcomeDeferred, handler.ReasonCancelled)
		if h.runs != before {
			h.Error("the job began")
		}
		h.faults.Before = nil
		pass(time.Hour)
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.Job.Crashes != 0 {
				h.Errorf("%d crashes are counted", m.Job.Crashes)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}

func TestASuspectThatFindsNoIdleProcessIsGivenBack(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		i := h.waiting(5 * time.Minute)
		i.batchIn(h.Context(), message("suspect", "a"), message("long", "a"))
		r := i.ended("suspect", handler.OutcomeDeferred, handler.ReasonNotAlone)
		if r.Delay < time.Minute || h.runs != 1 {
			h.Errorf("it comes back after %v, %d runs; want a minute at least, and only the other's", r.Delay, h.runs)
		}
		h.asks("2 acquire", "2 renew", "abort", "14 renew", "complete")
	})
}

// TestAClaimThatIsLostInTheWaitIsAnothers has the suspect's last receive, too:
// who does not own the job does not bury it.
func TestAClaimThatIsLostInTheWaitIsAnothers(t *testing.T) {
	t.Parallel()
	for _, maxReceives := range []int{0, 3} {
		for name, back := range map[string]time.Duration{"the store is back": 20 * time.Second, "it is not": time.Hour} {
			scenario(t, func(h *harness) {
				h.options.Lease = 10 * time.Second
				h.engine.MaxReceives = maxReceives
				i := h.waiting(25 * time.Second)
				i.job = func(ctx context.Context, _ *handler.Message) error { pass(25 * time.Second); return nil }
				h.posts = true
				h.down(time.Second, back, false)
				i.batchIn(h.Context(), message("long", "a"), received("suspect", "a", 3))
				r := i.ended("suspect", handler.OutcomeBusy, idem.ReasonLate)
				if _, lost := errors.AsType[*idem.LostError](r.Err); !lost || h.runs != 1 || len(h.letters) > 0 {
					h.Errorf("%s: error is %v, %d runs, letters %q; want a LostError and no run", name, r.Err, h.runs, h.letters)
				}
			})
		}
	}
}

func TestASuspectWithoutTimeIsDeferred(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		maxReceives int
		outcome     handler.Outcome
		reason      string
		asks        string
	}{
		{"it comes back", 0, handler.OutcomeDeferred, handler.ReasonNoTime, "abort"},
		{"its last receive", 3, handler.OutcomeDead, handler.ReasonMaxReceives, "verdict send confirm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.job = explode
				h.crash("suspect")
				h.calls, h.posts = nil, true
				h.engine.MaxReceives = c.maxReceives
				h.shared(2)
				first := h.invoke(1)
				first.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, time.Minute) }
				done := make(chan *invocation)
				go func() { done <- first.batchIn(h.Context(), message("long", "a")) }()
				pass(time.Second)
				i := h.invoke(2).batch(received("suspect", "a", 3))
				i.ended("suspect", c.outcome, c.reason)
				<-done
				if last := h.settlements[1]; last.Crashes != 1 {
					h.Errorf("%s writes %d crashes, want them as they were", last.Kind, last.Crashes)
				}
				mine := slices.DeleteFunc(h.calls, func(s string) bool {
					return s == "acquire" || s == "complete" || s == "renew"
				})
				if diff := cmp.Diff(c.asks, strings.Join(mine, " ")); diff != "" {
					h.Errorf("calls differ (-want +got):\n%s", diff)
				}
			})
		})
	}
}
