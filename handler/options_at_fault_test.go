package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestARedactThatPanicsCostsTheExcerptAlone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		q := newQueues()
		o := q.options()
		o.Redact = func(*handler.Message) string { panic("redact") }
		o.Concurrency, o.Ledger = concurrency, verdicts(time.Minute, nil)
		if ids := handle(t, newProcessor(byBody(script), o), many(30, "permanent")...); len(ids) != 0 {
			t.Errorf("reported %v", ids)
		}
		if got := q.logged(t, "hook failed", "hook"); len(got) != 30 || got[0] != "Redact" {
			t.Errorf("told of hooks %v", got)
		}
		if got := q.logged(t, handler.LogDeadLettered, "excerpt"); strings.Join(got, "") != "" || len(got) != 30 {
			t.Errorf("excerpts %q", got)
		}
	}
}

// A Redact that hangs ends the batch: the letters that were sent by then count, and
// those of its pack are confirmed in the ledger before any is logged.
func TestARedactThatHangsCostsNoLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		q := newQueues()
		confirmed := make(chan string, 30)
		o := q.options()
		o.Redact = func(*handler.Message) string { <-time.After(time.Hour); return "late" }
		o.Ledger = verdicts(time.Minute, func(_ context.Context, id string) error { confirmed <- id; return nil })
		p := newProcessor(byBody(script), o)
		response, err := p.Handle(ctx, event(many(30, "permanent")...))
		if err != nil || ctx.Err() != nil {
			t.Fatal(err, ctx.Err())
		}
		if n := len(q.dead()); n == 0 || len(confirmed) != n || len(response.BatchItemFailures) != 30-n {
			t.Errorf("%d letters, %d confirmed, reported %v", n, len(confirmed), reported(response))
		}
		again := crashes(t.Context(), t, p, event(record("next", "good")))
		if !again.ShouldExit || !strings.Contains(again.Message, "hung") {
			t.Errorf("the next batch sees %+v, want the end of the process", again)
		}
		<-time.After(48 * time.Hour)
	})
}

func TestARestoreThatHangsEndsTheProcessInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var l told
		q := newQueues()
		o := q.options()
		o.Hooks = l.hooks()
		o.Restore = func(m *handler.Message) {
			if m.Body == "stuck" {
				<-time.After(time.Hour)
			}
			m.Body = "restored"
		}
		ran := 0
		h := handler.Func(func(context.Context, *handler.Message) error { ran++; return nil })
		crash := crashes(ctx, t, newProcessor(h, o),
			event(record("m1", "good"), record("m2", "stuck"), record("m3", "good")))
		if crash.Message != handler.ErrAbandoned.Error() || ran != 1 || ctx.Err() != nil {
			t.Errorf("message %q, %d runs, context %v", crash.Message, ran, ctx.Err())
		}
		for id, want := range map[string]string{
			"m1": "", "m2": handler.ReasonAbandoned, "m3": handler.ReasonNoTime,
		} {
			if got := q.outcomeOf(t, id, "reason"); got != want {
				t.Errorf("%s: reason %q, want %q", id, got, want)
			}
		}
		want := []string{"batch of 3", "error m2 crash abandoned true"}
		if diff := cmp.Diff(want, l.sorted()); diff != "" {
			t.Errorf("hooks were told (-want +got):\n%s", diff)
		}
		<-time.After(2 * time.Hour)
	})
}

// brokenLog is a log handler that panics where it is asked to.
type brokenLog struct{ enabled, line string }

func (l brokenLog) Enabled(context.Context, slog.Level) bool {
	if l.enabled != "" {
		panic("Enabled")
	}
	return true
}

func (l brokenLog) Handle(_ context.Context, r slog.Record) error {
	if l.line == "" || r.Message == l.line {
		panic("log")
	}
	return nil
}

func (l brokenLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l brokenLog) WithGroup(string) slog.Handler      { return l }

func TestALogThatPanicsCostsItsLinesAlone(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]slog.Handler{
		"at all lines": brokenLog{}, "at outcomes": brokenLog{line: handler.LogOutcome},
		"at dead letters": brokenLog{line: handler.LogDeadLettered}, "when asked for its level": brokenLog{enabled: "panics"},
		"at a hidden failure": brokenLog{line: "visibility timeout not changed"},
		"at a stray error":    brokenLog{line: "goroutine failed outside of the handler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			q.hideErr = map[string]error{"m1": errOdd}
			o := q.options()
			o.Logger = slog.New(log)
			stray := func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.Body != "stray" {
						return next(ctx, m)
					}
					handler.Go(ctx, func(context.Context) error { return errOdd })
					return nil
				}
			}
			o.Hooks.OnError = func(context.Context, *handler.Message, *handler.Result) { panic("hook") }
			var confirmed []string
			o.Middleware = []handler.Middleware{stray}
			o.Ledger = verdicts(time.Minute, func(_ context.Context, id string) error {
				confirmed = append(confirmed, id)
				return errOdd
			})
			ids := handle(t, newProcessor(byBody(script), o),
				record("m1", "reset"), record("m2", "permanent"), record("m3", "good"), record("m4", "stray"))
			if diff := cmp.Diff([]string{"m1"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"dead-m2"}, confirmed); diff != "" {
				t.Errorf("confirmed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatUserCodeNamesIsCutInTheLog(t *testing.T) {
	t.Parallel()
	q := newQueues()
	long := strings.Repeat("r", 1<<20)
	err := fault.Permanent(errOdd, fault.WithReason(long))
	handle(t, newProcessor(handler.Func(fails(err)), q.options()), record("m1", "x"))
	for _, line := range []string{handler.LogOutcome, handler.LogDeadLettered} {
		if got := q.logged(t, line, "reason"); len(got) != 1 || len(got[0]) != 128 {
			t.Errorf("%s: the reason has %d bytes, want 128", line, len(got[0]))
		}
	}
	named := handler.Func(fails(&handler.Result{Outcome: handler.OutcomeBusy, Decision: fault.Decision{Rule: long}}))
	handle(t, newProcessor(named, q.options()), record("m2", "x"))
	if got := q.outcomeOf(t, "m2", "rule"); len(got) != 128 {
		t.Errorf("the rule has %d bytes, want 128", len(got))
	}
}

func TestTheCrashAnswerIsBounded(t *testing.T) {
	t.Parallel()
	h := handler.Func(func(context.Context, *handler.Message) error { panic(strings.Repeat("x", 1<<20)) })
	crash := crashes(t.Context(), t, newProcessor(h, newQueues().options()), event(record("m1", "x")))
	if !strings.HasPrefix(crash.Message, "panic: xxx") || len(crash.Message) != 8<<10 {
		t.Errorf("message of %d bytes, want 8 KiB", len(crash.Message))
	}
}

func TestOneFailedCallIsOneLine(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.hideErr = map[string]error{}
	for i := range 40 {
		q.hideErr[fmt.Sprintf("m%02d", i)] = errOdd
	}
	q.hideErr["m07"], q.hideErr["m09"] = fmt.Errorf("other: %w", errOdd), nil
	var batch handler.Report
	o := q.options()
	o.Breaker, o.Hooks.OnBatch = -1, keep(&batch)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := newProcessor(byBody(script), o)
	if _, err := p.Handle(ctx, event(many(40, "reset")...)); err != nil {
		t.Fatal(err)
	}
	const line = "visibility timeout not changed"
	if diff := cmp.Diff([]string{"odd", "other: odd"}, q.logged(t, line, "error")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m00", "m07"}, q.logged(t, line, "messageId")); diff != "" {
		t.Errorf("first messages (-want +got):\n%s", diff)
	}
	if !strings.Contains(q.logLines.String(), `"error":"odd","messages":38}`) {
		t.Error("no line counts 38 messages")
	}
	if batch.Unsettled != 39 {
		t.Errorf("%d unsettled, want 39", batch.Unsettled)
	}
}

func TestNegativeNumbersAreRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]handler.Options{
		"Concurrency is -1, want at least 1, or 0 for 1":          {Concurrency: -1},
		"MaxReceives is -2, want at least 1, or 0 for an unknown": {MaxReceives: -2},
		"UnclassifiedAttempts is -3, want at least 1, or 0 for 3": {UnclassifiedAttempts: -3},
		"Reserve is -1s, want more than 0, or 0 for a tenth":      {Reserve: -time.Second},
		"or 0 for 1\nhandler: Reserve is -1ns, want more than 0":  {Concurrency: -1, Reserve: -1},
	} {
		p, err := handler.NewProcessor(handler.Func(fails(nil)), &o)
		if p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
