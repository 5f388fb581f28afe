package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// A letter does not wait for a job of hours beside it: its lease would end before, and
// SQS might move the message without its record.
func TestALetterDoesNotWaitForALongJob(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 15 * time.Minute} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = timeout, 2
			s.ledger.letterLease = func(*handler.Message) time.Duration { return time.Minute }
			start := time.Now()
			var sent []time.Duration
			s.onSend = func(context.Context) { sent = append(sent, time.Since(start)) }
			ids := s.run(t, record("long", "14m"), record("d1", "permanent"), record("d2", "permanent"),
				record("d3", "10s permanent"))
			if timeout == 0 && len(ids) > 0 || slices.Contains(ids, "d1") || len(s.dead()) != 3 {
				t.Errorf("reported %v, dead %v", ids, s.dead())
			}
			if diff := cmp.Diff([]time.Duration{time.Second, 11 * time.Second}, sent); diff != "" {
				t.Errorf("sent after (-want +got):\n%s", diff)
			}
		})
	}
}

// abandoned runs a job that ignores its context, and gives how it is blamed. It has so
// many crashes, and starts so long after the begin of an invocation of 20 s, 18 s of
// which are for jobs.
func abandoned(t *testing.T, crashes int, late time.Duration, r events.SQSMessage) (e handler.Ending, ran bool) {
	t.Helper()
	s := newScene()
	s.timeout, s.options.MaxReceives = 20*time.Second, 30
	s.ledger.job.Crashes = crashes
	s.ledger.settled = func(m *handler.Message, ended handler.Ending) *handler.Result {
		if m.MessageId == "deaf" {
			e = ended
		}
		return nil
	}
	h := handler.Func(func(ctx context.Context, m *handler.Message) error {
		if m.MessageId == "deaf" {
			ran = true
			<-time.After(time.Hour)
		}
		return nil
	})
	s.ledger.on = func(_ context.Context, call string, m *handler.Message) {
		if call == "claim" && m.MessageId == "deaf" {
			<-time.After(late)
		}
	}
	ctx, cancel := s.context(t)
	defer cancel()
	func() {
		defer func() { _ = recover() }()
		_, _ = must(handler.NewProcessor(h, s.options)).Handle(ctx, event(r))
	}()
	<-time.After(time.Hour)
	return e, ran
}

// The crash that makes a job dead is that of a run which had most of the time: a job that
// only takes long is not dead-lettered because it was started late twice. So it does not start
// late, as long as it has receives enough and no group waits for it.
func TestALateStartIsNoCrashLoop(t *testing.T) {
	t.Parallel()
	const half, most = 9 * time.Second, 4500 * time.Millisecond
	deaf := func(receives int) events.SQSMessage { return received(receives, record("deaf", "x")) }
	tests := map[string]struct {
		crashes     int
		late        time.Duration
		record      events.SQSMessage
		runs, blame bool
	}{
		"never crashed, half of the time":       {0, half, deaf(2), true, true},
		"never crashed, less":                   {0, half + time.Second, deaf(2), true, false},
		"crashed, most of the time":             {1, most, deaf(2), true, true},
		"crashed, less":                         {1, most + time.Second, deaf(2), false, false},
		"crashed, less, urgent":                 {1, most + time.Second, deaf(20), true, false},
		"crashed, less, its group waits":        {1, most + time.Second, grouped("g", deaf(2)), true, false},
		"crashed, most, half of the receives":   {1, most, deaf(15), true, true},
		"crashed, most, its group waits for it": {1, most, grouped("g", deaf(2)), true, true},
	}
	for name, tt := range tests {
		inBubble(t, name, func(t *testing.T) {
			e, ran := abandoned(t, tt.crashes, tt.late, tt.record)
			if ran != tt.runs || e.Blamed != tt.blame {
				t.Errorf("ran %v, blamed %v, want %v and %v", ran, e.Blamed, tt.runs, tt.blame)
			}
		})
	}
}

// What another job's crash cuts off is not to blame, whatever time it had.
func TestABystanderOfACrashIsNotBlamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.Concurrency = time.Minute, 2
		var told handler.Ending
		s.ledger.settled = func(m *handler.Message, e handler.Ending) *handler.Result {
			if m.MessageId == "deaf" {
				told = e
			}
			return nil
		}
		h := handler.Func(func(ctx context.Context, m *handler.Message) error {
			if m.MessageId == "deaf" {
				<-time.After(45 * time.Second) // it would have ended in time
			}
			return steps(ctx, m)
		})
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, must(handler.NewProcessor(h, s.options)), event(record("deaf", "x"), record("boom", "28s boom")))
		if !told.Running || told.Blamed {
			t.Errorf("the ledger was told %+v", told)
		}
		<-time.After(time.Hour)
	})
}

// A batch that comes when the host has begun to drain starts nothing.
func TestABatchThatBeginsWhileDrainingStartsNothing(t *testing.T) {
	t.Parallel()
	for _, ledger := range []bool{true, false} {
		inBubble(t, fmt.Sprint("ledger ", ledger), func(t *testing.T) {
			s := newScene()
			if !ledger {
				s.options.Ledger = nil
			}
			s.ledger.ahead, s.options.Concurrency = true, 4
			close(s.draining)
			ids := s.run(t, record("m1", "1s"), record("m2", "1s"))
			if diff := cmp.Diff([]string{"m1", "m2"}, ids); diff != "" || len(s.events) > 0 {
				t.Errorf("did %v, reported (-want +got):\n%s", s.events, diff)
			}
		})
	}
}

// slowLog takes a time for each line of an outcome.
type slowLog struct {
	slog.Handler
	each time.Duration
}

func (l slowLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == handler.LogOutcome {
		<-time.After(l.each)
	}
	return l.Handler.Handle(ctx, r)
}

// A job that has ended is not left behind since the log is slow.
func TestASlowLogLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = 30*time.Second, 2
			s.options.Logger = slog.New(slowLog{s.options.Logger.Handler(), 900 * time.Millisecond})
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				<-ctx.Done()
				return steps(context.WithoutCancel(ctx), m)
			})
			ctx, cancel := s.context(t)
			defer cancel()
			// The loop writes the first line while the second ends, and longer than it waits for that.
			response, err := must(handler.NewProcessor(h, s.options)).Handle(ctx,
				event(record("m1", "100ms"), record("m2", "300ms")))
			if err != nil || len(response.BatchItemFailures) > 0 || s.outcomeOf(t, "m2", "outcome") != "done" {
				t.Errorf("reported %v, %v, m2: %s", response, err, s.outcomeOf(t, "m2", "outcome"))
			}
		})
	}
}

// A source of random numbers that panics, as one that is not safe for concurrent use may,
// changes delays and nothing else.
func TestARandomThatPanicsCostsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency, s.options.Random = 2, func() float64 { panic("index out of range") }
		time.AfterFunc(time.Second, func() { close(s.draining) })
		ids := s.run(t, record("m1", "reset"), record("m2", "2s"), record("m3", "2s permanent"),
			received(3, record("m4", "1s")))
		if diff := cmp.Diff([]string{"m1", "m4"}, ids); diff != "" || !cmp.Equal([]string{"m3"}, s.dead()) {
			t.Errorf("dead %v, reported (-want +got):\n%s", s.dead(), diff)
		}
		for _, id := range ids {
			if s.hidden[id] < time.Second {
				t.Errorf("%s is hidden for %v", id, s.hidden[id])
			}
		}
	})
}

// The count of a lone run is not taken back beside the write that settles its claim: it
// could undo the mark of a crash.
func TestACountIsNotTakenBackBesideASettle(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		"58s":      {"count s1", "s1", "settle", "settled"},
		"58s boom": {"count s1", "s1", "settle", "settled"},
		"62s":      {"count s1", "s1", "taken back", "uncount s1", "settle", "settled"},
		"62s boom": {"count s1", "s1", "taken back", "uncount s1", "settle", "settled"},
	} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			s.ledger.on = func(_ context.Context, call string, _ *handler.Message) {
				switch {
				case call == "settle":
					s.note("settle")
					<-time.After(4 * time.Second)
					s.note("settled")
				case call == "count" && len(s.runs()) > 0:
					s.note("taken back")
					<-time.After(4 * time.Second)
				}
			}
			func() {
				defer func() { _ = recover() }()
				s.run(t, record("s1", "suspect "+body))
			}()
			synctest.Wait()
			got := slices.DeleteFunc(s.events, func(e string) bool { return !slices.Contains(want, e) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// A probe that waits, and is sent home before it starts, is given back too.
func TestAProbeThatWasDeferredIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Breaker, s.options.AwaitSettle, s.ledger.settleTime = 1, true, 500*time.Millisecond
		p := s.processor()
		time.AfterFunc(200*time.Millisecond, func() { close(s.draining) })
		s.runIn(t, p, record("m1", "reset"), record("m2", "good"))
		s.draining = make(chan struct{})
		s.runIn(t, p, record("m3", "good"))
		if diff := cmp.Diff([]string{"m1", "m3"}, s.runs()); diff != "" {
			t.Errorf("ran (-want +got):\n%s", diff)
		}
	})
}

// Where a run took the twelve hours for which SQS hides a message, it is not made visible
// at once: its visibility timeout has ended by itself, or will.
func TestAMessageOfTwelveHoursIsNotMadeVisible(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{"11h reset": true, "12h reset": false, "13h odd": false} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			ids := s.run(t, record("m1", body))
			if hidden, asked := s.hidden["m1"]; len(ids) != 1 || asked != want || asked && hidden < time.Second {
				t.Errorf("reported %v, hidden %v for %v, want %v", ids, asked, hidden, want)
			}
		})
	}
}

// hangingHide is a queue whose changes of visibility take all of the time that they have.
type hangingHide struct{ *queues }

func (q hangingHide) ChangeVisibility(ctx context.Context, _ []handler.VisibilityChange) {
	<-ctx.Done()
}

func (q hangingHide) Delete(ctx context.Context, deletions []handler.Deletion) {
	if ctx.Err() == nil {
		q.queues.Delete(ctx, deletions)
	}
}

// What is done is deleted before a crash though nothing can be hidden: without a ledger it
// would run again.
func TestACrashDeletesThoughHidingHangs(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 30 * time.Second} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Ledger, s.options.Queue = timeout, nil, hangingHide{s.queues}
			ctx, cancel := s.context(t)
			defer cancel()
			crashes(ctx, t, s.processor(), event(record("m1", "1s"), record("m2", "reset"), record("m3", "boom")))
			if diff := cmp.Diff([]string{"m1"}, s.queues.deleted); diff != "" || ctx.Err() != nil {
				t.Errorf("%v, deleted (-want +got):\n%s", ctx.Err(), diff)
			}
		})
	}
}

// Decoding after the cut, on the way to a verdict, has an end too: what heeds it does not
// end the process.
func TestDecodingForAVerdictHasAnEnd(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"waits", "quick"} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 5
			look := func(ctx context.Context, m *handler.Message) error {
				if m.Body == "waits" {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			ctx, cancel := s.context(t)
			defer cancel()
			response, err := must(handler.NewProcessor(prepares{look, steps}, s.options)).Handle(ctx,
				event(received(5, record("m1", "1h")), received(5, record("m2", body))))
			if err != nil || len(response.BatchItemFailures) > 0 || !slices.Contains(s.dead(), "m2") {
				t.Errorf("reported %v, %v, dead %v", response, err, s.dead())
			}
			if got := s.outcomeOf(t, "m2", "reason"); got != handler.ReasonMaxReceives {
				t.Errorf("m2 died for %s", got)
			}
		})
	}
}

// A lone run with a deadline of minutes or hours keeps other invocations out for a minute
// too. In a process of its own it stays alone to its end.
func TestALoneRunWithADeadlineLetsOtherInvocationsStart(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{true, false} {
		inBubble(t, fmt.Sprint("shared ", shared), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = time.Hour, 2
			p := s.processor()
			start := time.Now()
			var all sync.WaitGroup
			all.Go(func() { s.runIn(t, p, record("s1", "suspect 50m"), received(2, record("m1", "x"))) })
			synctest.Wait()
			if shared {
				if ids := s.runIn(t, p, record("m2", "x")); len(ids) > 0 || time.Since(start) > time.Minute {
					t.Errorf("reported %v after %v", ids, time.Since(start))
				}
			}
			all.Wait()
			if counted := !slices.Contains(s.events, "uncount s1"); counted == shared {
				t.Errorf("counted to the end: %v", counted)
			}
			if alone := len(s.beside["s1"]) == 0; alone == shared {
				t.Errorf("ran beside %v", s.beside["s1"])
			}
		})
	}
}

// What decoding makes of a message is not what the queues are told: the letter of a job
// that decoding, the key function or the ledger refuses has the body as it came.
func TestDecodingDoesNotChangeTheLetter(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"prepare", "key", "claim", "run", "deferred"} {
		inBubble(t, where, func(t *testing.T) {
			s := newScene()
			r := &receipts{queues: s.queues}
			s.options.Queue = r
			refuse := func(at string) error {
				if at != where {
					return nil
				}
				return fault.Permanent(errOdd)
			}
			s.ledger.identify = func(*handler.Message) error { return refuse("key") }
			s.ledger.decided = func(*handler.Message) *handler.Result {
				if where != "claim" {
					return nil
				}
				return &handler.Result{Outcome: handler.OutcomeDead, Err: errOdd}
			}
			if where == "deferred" {
				time.AfterFunc(time.Second, func() { close(s.draining) })
			}
			h := prepares{
				look: func(_ context.Context, m *handler.Message) error {
					m.Body, m.ReceiptHandle, m.EventSourceARN, m.MessageId = "changed", "another", "elsewhere", "stranger"
					return refuse("prepare")
				},
				run: func(context.Context, *handler.Message) error { <-time.After(2 * time.Second); return refuse("run") },
			}
			ctx, cancel := s.context(t)
			defer cancel()
			_, err := newProcessor(h, s.options).Handle(ctx, event(record("m1", "as it came"), copyOf("m1", record("m2", "x"))))
			if err != nil {
				t.Error(err)
			}
			for _, l := range s.letters {
				if want := map[string]string{"m1": "as it came", "m2": "x"}[l.Message.MessageId]; l.Message.Body != want {
					t.Errorf("the letter of %s has the body %q", l.Message.MessageId, l.Message.Body)
				}
			}
			if dead := len(s.letters) > 0; dead == (where == "deferred") {
				t.Errorf("%d letters", len(s.letters))
			}
			for _, hid := range r.hid {
				if hid != standardARN+" receipt-m2" {
					t.Errorf("hid %q", hid)
				}
			}
		})
	}
}

// Whatever delay or time user code names, a message is hidden for one second at least and
// for what SQS takes at most, or left to its visibility timeout. Nothing comes back at once.
func TestExtremeDelays(t *testing.T) {
	t.Parallel()
	const longest = 12 * time.Hour
	for _, outcome := range []handler.Outcome{
		handler.OutcomeRetry, handler.OutcomeBusy, handler.OutcomeDeferred, handler.OutcomeUnrecorded,
	} {
		for _, delay := range []time.Duration{math.MinInt64, -1, 0, 1, time.Millisecond, 1500 * time.Millisecond, math.MaxInt64} {
			for _, until := range []time.Duration{0, math.MinInt64, -1, 1, time.Hour, math.MaxInt64} {
				inBubble(t, fmt.Sprint(outcome, delay, until), func(t *testing.T) {
					s := newScene()
					r := handler.Result{Outcome: outcome, Delay: delay}
					if until != 0 {
						r.Until = time.Now().Add(until)
					}
					h := handler.Func(func(context.Context, *handler.Message) error { return &r })
					ctx, cancel := s.context(t)
					defer cancel()
					response, err := newProcessor(h, s.options).Handle(ctx, event(record("m1", "x")))
					hidden, asked := s.hidden["m1"]
					if err != nil || len(response.BatchItemFailures) != 1 || asked && (hidden < time.Second || hidden > longest) {
						t.Errorf("reported %v, %v; hidden for %v", response, err, hidden)
					}
					if named := delay > 0 || until != 0; named && !asked {
						t.Error("not hidden")
					}
				})
			}
		}
	}
}

// The receives of a message that is busy again and again, such as a copy of a job of hours,
// last for hours too.
func TestABusyMessageDoesNotUseUpItsReceives(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]time.Duration{30: 2 * time.Hour, 0: 2 * time.Hour} {
		inBubble(t, fmt.Sprint(most), func(t *testing.T) {
			s := newScene()
			s.options.MaxReceives = most
			s.ledger.decided = func(*handler.Message) *handler.Result {
				return &handler.Result{Outcome: handler.OutcomeBusy, Until: time.Now().Add(time.Minute)}
			}
			p := s.processor()
			var all time.Duration
			for receives := 1; receives < 30; receives++ {
				s.runIn(t, p, received(receives, record("m1", "x")))
				if receives <= 15 && s.hidden["m1"] > 72*time.Second {
					t.Errorf("receive %d: hidden for %v, want the rest of the lease", receives, s.hidden["m1"])
				}
				all += s.hidden["m1"]
			}
			if all < want {
				t.Errorf("all receives were used after %v, want at least %v", all, want)
			}
		})
	}
}
