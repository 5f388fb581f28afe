package handler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// E1: jobs whose process was killed once come back together, two run at a time, and what
// middleware does after them hangs. Handle returns before its deadline however many they
// are.
func TestKilledJobsBehindMiddlewareThatHangs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 17, 100} {
		for _, kills := range []int{1, 2} {
			inBubble(t, fmt.Sprintf("%d jobs, %d kills", n, kills), func(t *testing.T) {
				q := newQueues()
				o := q.options()
				ledger := must(idem.New(idem.NewMemory(), &idem.Options{Logger: noLog}))
				o.Ledger, o.Concurrency = ledger, 2
				release := make(chan struct{})
				o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
					return func(ctx context.Context, m *handler.Message) error {
						err := next(ctx, m)
						<-release // a flush
						return err
					}
				}}
				records := many(n, "x")
				var all sync.WaitGroup
				for i := range records {
					received(1+kills, records[i])
					all.Go(func() { unsettle(t, ledger, records[i], kills) })
				}
				all.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				start := time.Now()
				response, crashed := end(ctx, newProcessor(handler.Func(steps), o), records)
				if took := time.Since(start); took >= 30*time.Second || response == nil && !crashed {
					t.Errorf("took %v; answered %v, crashed %v", took, response != nil, crashed)
				}
				close(release)
			})
		}
	}
}

// E3: ten jobs of a minute, ten at a time, after one kill of their worker: one claim
// without a result says nothing, so that they run side by side.
func TestOneKillDoesNotMakeAProcessSerial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		o := q.options()
		ledger := must(idem.New(idem.NewMemory(), &idem.Options{Logger: noLog}))
		o.Ledger, o.Concurrency = ledger, 10
		records := many(10, "1m")
		var all sync.WaitGroup
		for i := range records {
			received(2, records[i])
			all.Go(func() { unsettle(t, ledger, records[i], 1) })
		}
		all.Wait()
		start := time.Now()
		ids := handle(t, newProcessor(handler.Func(steps), o), records...)
		if took := time.Since(start); len(ids) != 0 || took > 61*time.Second {
			t.Errorf("reported %v after %v, want a minute", ids, took)
		}
	})
}

// E3: a worker with a job of two hours, ten healthy jobs that were killed twice, and a stream
// of jobs of a second: all are done, and the stream never waits for more than a minute.
func TestALongJobAndSuspectsDoNotHoldUpAStream(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 10} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			store := idem.NewMemory()
			f := &fleet{
				t: t, hosts: 4, maxReceives: 30, store: store, latency: 5 * time.Millisecond, handler: worked(),
				options: handler.Options{Concurrency: concurrency, Random: seeded()},
			}
			ledger := must(idem.New(store, &idem.Options{Logger: noLog}))
			var all sync.WaitGroup
			for range 10 {
				j := f.send(10*time.Second, "5s")
				j.receives = 2
				all.Go(func() { unsettle(t, ledger, record(j.id, j.body), 2) })
			}
			all.Wait()
			f.send(0, "2h")
			for i := range 3 * 3600 / 5 {
				f.send(time.Second+time.Duration(i)*5*time.Second, "1s")
			}
			f.run(24 * time.Hour)
			f.requireDone(anyJob)
			of := func(body string) (time.Duration, int) {
				most := 0
				for _, j := range f.jobs {
					if j.body == body {
						most = max(most, j.receives)
					}
				}
				_, _, longest := f.waits(func(j *fleetJob) bool { return j.body == body })
				return longest, most
			}
			stream, receives := of("1s")
			suspects, suspectReceives := of("5s")
			t.Logf("longest wait of the stream %v (%d receives), of suspects %v (%d receives)",
				stream, receives, suspects, suspectReceives)
			if stream > time.Minute+time.Second {
				t.Errorf("the stream waits for up to %v", stream)
			}
		})
	}
}

// E5: a worker is told to stop three times, and each time it leaves an honest job behind
// that ignores its context: the job is done in the end.
func TestDrainsDoNotBuryAnHonestJob(t *testing.T) {
	t.Parallel()
	for _, drains := range []int{3, 6} {
		inBubble(t, fmt.Sprint(drains), func(t *testing.T) {
			ledger := must(idem.New(idem.NewMemory(), &idem.Options{Logger: noLog}))
			h := handler.Func(func(context.Context, *handler.Message) error { <-time.After(6 * time.Second); return nil })
			var got []string
			for n := range drains + 1 {
				q := newQueues()
				o := q.options()
				o.Ledger, o.MaxReceives = ledger, 30
				ctx, cancel := context.WithCancel(t.Context())
				if n < drains {
					time.AfterFunc(time.Second, cancel) // its drain is over
				}
				p := newProcessor(h, o)
				response, err := p.Handle(ctx, event(received(n+1, record("m1", "x"))))
				cancel()
				if err != nil || len(response.BatchItemFailures) != 1 && n < drains {
					t.Fatalf("drain %d: %v, %v", n, response, err)
				}
				got = append(got, q.outcomeOf(t, "m1", "outcome")+" "+q.outcomeOf(t, "m1", "reason"))
				<-time.After(2 * time.Minute) // the lease of what was left behind
			}
			want := make([]string, drains+1)
			for i := range want {
				want[i] = "deferred cancelled"
			}
			want[drains] = "done "
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// E7: thirty jobs to a refused port, eight at a time in batches of ten: the breaker opens, so
// that an outage costs each job a run or two, and not one at each receive.
func TestTheBreakerOpensWhateverTheConcurrency(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			up := time.Now().Add(10 * time.Minute)
			f := &fleet{
				t: t, timeout: 30 * time.Second, maxReceives: 30, latency: 5 * time.Millisecond,
				handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
					if err := takes(20*time.Millisecond)(ctx, m); err != nil || time.Now().After(up) {
						return err
					}
					return fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)
				}),
				options: handler.Options{Concurrency: concurrency, Random: seeded()},
			}
			for range 30 {
				f.send(0, "x")
			}
			f.run(6 * time.Hour)
			f.requireDone(anyJob)
			runs, most := 0, 0
			for _, j := range f.jobs {
				runs, most = runs+j.runs-1, max(most, j.runs-1)
			}
			t.Logf("%d runs failed, %d of one job at most", runs, most)
			if limit := 5 + concurrency + 61; runs > limit {
				t.Errorf("%d runs failed in ten minutes, want at most %d", runs, limit)
			}
		})
	}
}

// E22: a run that was cut off, in a function that tags whatever it returns: an error that is
// the processor's own cancellation is no permanent failure.
func TestACutOffRunIsNoPermanentFailure(t *testing.T) {
	t.Parallel()
	tags := map[string]func(error) error{
		"Permanent":                 func(err error) error { return fault.Permanent(err) },
		"Permanent with a reason":   func(err error) error { return fault.Permanent(err, fault.WithReason("no")) },
		"Permanent around a text":   func(err error) error { return fault.Permanent(fmt.Errorf("charge: %w", err)) },
		"a type of its own":         func(err error) error { return refused{err} },
		"a type that hides it":      func(err error) error { return declined{err} },
		"twice":                     func(err error) error { return fault.Permanent(fault.Permanent(err)) },
		"joined":                    func(err error) error { return fault.Permanent(errors.Join(errOdd, err)) },
		"as a client's error":       func(error) error { return fault.Permanent(&http.ProtocolError{}) },
		"Retryable":                 func(err error) error { return fault.Retryable(err) },
		"none":                      func(err error) error { return err },
		"a permanent one beside it": func(err error) error { return errors.Join(err, fault.Permanent(errOdd)) },
	}
	for name, tag := range tags {
		for _, early := range []bool{false, true} {
			inBubble(t, fmt.Sprint(name, early), func(t *testing.T) {
				s := newScene()
				s.timeout = 30 * time.Second
				h := handler.Func(func(ctx context.Context, m *handler.Message) error {
					if m.MessageId != "m2" {
						return takes(7*time.Second)(ctx, m)
					}
					<-ctx.Done()
					return tag(fmt.Errorf("post: %w", context.Cause(ctx)))
				})
				records := []events.SQSMessage{record("m0", "x"), record("m1", "x"), record("m2", "x")}
				want := "deferred" // it had less than half of the time
				if early {
					records, want = records[2:], "retry"
				}
				switch name { // what was meant stays
				case "as a client's error", "a permanent one beside it", "a type that hides it":
					want = "dead"
				}
				s.runIn(t, newProcessor(h, s.options), records...)
				if got := s.outcomeOf(t, "m2", "outcome"); got != want {
					t.Errorf("outcome %s (%s), want %s", got, s.outcomeOf(t, "m2", "reason"), want)
				}
			})
		}
	}
}

// refused is an error type that says of itself that it is permanent, and why.
type refused struct{ err error }

func (r refused) Error() string { return "refused: " + r.err.Error() }
func (r refused) Unwrap() error { return r.err }
func (refused) Permanent() bool { return true }

// inOwnProcess is set in the process of a test that has one of its own.
const inOwnProcess = "SQSAFE_TEST_OWN_PROCESS"

// The line of a crash has the stacks of all goroutines, so that what hangs is found. The
// line has a limit, so that the goroutines of other tests are not to be there.
func TestTheLineOfACrashHasTheStacks(t *testing.T) {
	t.Parallel()
	if os.Getenv(inOwnProcess) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), inOwnProcess+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		release := make(chan struct{})
		h := handler.Func(func(context.Context, *handler.Message) error { waitsForNothing(release); return nil })
		crashes(ctx, t, newProcessor(h, q.options()), event(record("m1", "secret")))
		stacks := q.logged(t, handler.LogCrashed, "goroutines")
		if len(stacks) != 1 || !strings.Contains(stacks[0], "waitsForNothing") ||
			strings.Contains(stacks[0], "secret") {
			t.Errorf("stacks %q", stacks)
		}
		close(release)
	})
}

func waitsForNothing(release chan struct{}) { <-release }
