package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// nilError is an error type whose methods do not expect a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// TestAnErrorThatCannotSayWhatItIs is an error like others.
func TestAnErrorThatCannotSayWhatItIs(t *testing.T) {
	t.Parallel()
	var none *nilError
	for name, err := range map[string]error{
		"of a handler": none,
		"in a result":  &handler.Result{Outcome: handler.OutcomeRetry, Err: none, Delay: time.Second},
	} {
		q := newQueues()
		if ids := handle(t, newProcessor(handler.Func(fails(err)), q.options()), record("m1", "x")); len(ids) != 1 {
			t.Errorf("%s: reported %v", name, ids)
		}
		if got := q.outcomeOf(t, "m1", "outcome"); got != "retry" {
			t.Errorf("%s: outcome %s", name, got)
		}
	}
}

// odd makes a Classifier or a Backoff that panics.
type oddOption struct{}

func (oddOption) Classify(context.Context, error) fault.Decision { panic("in Classify") }
func (oddOption) Delay(int, func() float64) time.Duration        { panic("in Delay") }
func (oddOption) Attempts() int                                  { return 8 }

func TestAPanicInAnOptionIsACrash(t *testing.T) {
	t.Parallel()
	raw := func(next handler.Func) handler.Func {
		return func(context.Context, *handler.Message) error { return errOdd }
	}
	for name, set := range map[string]func(o *handler.Options){
		"panic: in Classify": func(o *handler.Options) { o.Classifier = oddOption{} },
		"panic: in Delay":    func(o *handler.Options) { o.Backoff = oddOption{} },
	} {
		for _, middleware := range [][]handler.Middleware{nil, {raw}} {
			q := newQueues()
			o := q.options()
			o.Middleware = middleware
			set(o)
			crash := crashes(t.Context(), t, newProcessor(byBody(script), o),
				event(record("m1", "reset"), record("m2", "good")))
			if crash.Message != name || q.outcomeOf(t, "m2", "reason") != handler.ReasonAfterCrash {
				t.Errorf("the runtime sees %q; m2: %s", crash.Message, q.outcomeOf(t, "m2", "reason"))
			}
		}
	}
}

func TestAPanicInRestoreIsOneOfDecoding(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Restore = func(m *handler.Message) {
		if m.MessageId == "m1" {
			panic("in Restore")
		}
	}
	handle(t, newProcessor(byBody(script), o), record("m1", "x"), record("m2", "good"))
	if len(q.letters) != 1 || q.letters[0].Failure.Reason != handler.ReasonPanic ||
		!strings.Contains(q.letters[0].Failure.Stack, "misfit_test") {
		t.Errorf("letters %+v, want one with the stack of the panic", q.letters)
	}
}

// TestCodeThatCannotWorkIsACrash: it would fail every job, whatever its payload.
func TestCodeThatCannotWorkIsACrash(t *testing.T) {
	t.Parallel()
	var nowhere *order
	misuse := func(context.Context, *handler.Message) error { return json.Unmarshal([]byte("{}"), nowhere) }
	for name, h := range map[string]handler.Handler{
		"in the handler": handler.Func(misuse),
		"in Prepare":     prepares{look: misuse},
		"wrapped": handler.Func(func(ctx context.Context, m *handler.Message) error {
			return fmt.Errorf("decode: %w", misuse(ctx, m))
		}),
	} {
		q := newQueues()
		crash := crashes(t.Context(), t, newProcessor(h, q.options()), event(record("m1", "x")))
		if !crash.ShouldExit || q.outcomeOf(t, "m1", "reason") != fault.ReasonProgrammerFault || len(q.letters) != 0 {
			t.Errorf("%s: the runtime sees %+v, reason %s", name, crash, q.outcomeOf(t, "m1", "reason"))
		}
	}
	q := newQueues()
	tagged := handler.Func(func(ctx context.Context, m *handler.Message) error {
		return fault.Permanent(misuse(ctx, m))
	})
	if handle(t, newProcessor(tagged, q.options()), record("m1", "x")); len(q.letters) != 1 {
		t.Error("a tag is to count more")
	}
}

func TestAnOutcomeOutsideOfTheSetIsACrash(t *testing.T) {
	t.Parallel()
	h := handler.Func(fails(&handler.Result{Outcome: handler.OutcomeDropped + 1}))
	q := newQueues()
	crashes(t.Context(), t, newProcessor(h, q.options()), event(record("m1", "x")))
	if got := q.outcomeOf(t, "m1", "reason"); got != handler.ReasonNoOutcome {
		t.Errorf("reason %s", got)
	}
}

func TestDropByReason(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Drop, o.MaxReceives, o.UnclassifiedAttempts = []string{"no_customer", handler.ReasonMaxReceives}, 9, 1
	ids := handle(t, newProcessor(byBody(script), o), record("m1", "permanent"), record("m2", "odd"),
		received(9, record("m3", "environment")))
	if diff := cmp.Diff([]string{"m2"}, q.dead()); diff != "" || len(ids) != 0 {
		t.Errorf("reported %v; dead (-want +got):\n%s", ids, diff)
	}
	for _, id := range []string{"m1", "m3"} {
		if q.outcomeOf(t, id, "outcome") != "dropped" || q.outcomeOf(t, id, "level") != "WARN" {
			t.Errorf("%s: %s %s", id, q.outcomeOf(t, id, "level"), q.outcomeOf(t, id, "outcome"))
		}
	}
}

func TestPanicAsPermanent(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.PanicAsPermanent = true
	ids := handle(t, newProcessor(handler.Func(steps), o), record("m1", "boom"), record("m2", "good"))
	if len(ids) != 0 || len(q.letters) != 1 {
		t.Fatalf("reported %v, letters %v", ids, q.letters)
	}
	f := q.letters[0].Failure
	if f.Reason != handler.ReasonPanic || f.Message != "panic: boom" || !strings.Contains(f.Stack, "trace_test") {
		t.Errorf("record %+v", f)
	}
	exits := handler.Func(func(context.Context, *handler.Message) error { runtime.Goexit(); return nil })
	if ids := handle(t, newProcessor(exits, o), many(3, "x")...); len(ids) != 0 || len(q.letters) != 4 {
		t.Errorf("reported %v, letters %v", ids, q.dead())
	}
	o.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
		return func(context.Context, *handler.Message) error { panic("in middleware") }
	}}
	crashes(t.Context(), t, newProcessor(handler.Func(steps), o), event(record("m1", "x")))
}

func TestBackoffByReason(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.BackoffByReason = map[string]handler.Backoff{
		fault.ReasonConnection: backoff.Constant{Interval: 100 * time.Second, MaxAttempts: 2}, "other": nil,
	}
	handle(t, newProcessor(byBody(script), o), record("m1", "reset"), received(2, record("m2", "reset")),
		record("m3", "odd"), record("m4", "environment"))
	if q.hidden["m1"] < 100*time.Second || q.hidden["m1"] > 200*time.Second || !cmp.Equal(q.dead(), []string{"m2"}) {
		t.Errorf("m1 hidden for %v, dead %v", q.hidden["m1"], q.dead())
	}
	if q.hidden["m3"] != time.Second || q.hidden["m4"] != time.Second {
		t.Errorf("m3 and m4 hidden for %v and %v, want by the general profile", q.hidden["m3"], q.hidden["m4"])
	}
}

// noRuns is a Backoff without a run.
type noRuns struct{ oddOption }

func (noRuns) Attempts() int { return 0 }

func TestFromContext(t *testing.T) {
	t.Parallel()
	if m := handler.FromContext(t.Context()); m != nil {
		t.Errorf("%v outside of a handler", m)
	}
	h := handler.Func(func(ctx context.Context, m *handler.Message) error {
		if handler.FromContext(ctx) != m {
			return errors.New("another message")
		}
		return nil
	})
	if ids := handle(t, newProcessor(h, newQueues().options()), record("m1", "x")); len(ids) != 0 {
		t.Errorf("reported %v", ids)
	}
}
