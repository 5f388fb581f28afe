package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// A Result may be a package's sentinel, which all of its jobs return.
func TestAResultThatJobsShareIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, shared := range map[string]handler.Result{
		"retry": {Outcome: handler.OutcomeRetry, Delay: 5 * time.Second},
		"dead, and not sent": {
			Outcome: handler.OutcomeDead, Failure: &handler.Failure{Reason: "gone"}, Err: errOdd,
		},
		"crash until a time": {Outcome: handler.OutcomeCrash, Until: time.Now().Add(time.Hour), Err: errOdd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, evidence := shared, shared.Failure
			var own handler.Failure
			if evidence != nil {
				own = *evidence
			}
			q := newQueues()
			o := q.options()
			o.Concurrency = 8
			q.sendErr = map[string]error{}
			for i := range 50 {
				q.sendErr[fmt.Sprintf("m%02d", i)] = errOdd
			}
			// The ledger writes into its own.
			ledger := newLedger(newTrace())
			ledger.settled = func(m *handler.Message, e handler.Ending) *handler.Result {
				e.Result.Job.Attempts++
				if e.Result.Failure != nil {
					e.Result.Failure.Key = m.MessageId
				}
				return e.Result
			}
			o.Ledger = ledger
			o.Hooks.OnError = func(_ context.Context, _ *handler.Message, r *handler.Result) {
				r.Delay, r.Outcome = time.Hour, handler.OutcomeDone
				if r.Failure != nil {
					r.Failure.Message = "changed"
				}
			}
			p := newProcessor(handler.Func(fails(&shared)), o)
			func() {
				defer func() { _ = recover() }() // the crash
				_, _ = p.Handle(t.Context(), event(many(50, "x")...))
			}()
			if shared.Delay != before.Delay || shared.Outcome != before.Outcome || shared.Job.Attempts != 0 {
				t.Errorf("the shared Result is %+v", shared)
			}
			if evidence != nil && (evidence.Key != own.Key || evidence.Message != own.Message) {
				t.Errorf("its failure is %+v", evidence)
			}
		})
	}
}

func TestWhatAHookChangesIsItsOwn(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Concurrency = 8
	o.Hooks.OnError = func(_ context.Context, _ *handler.Message, r *handler.Result) {
		r.Failure.Message, r.Outcome = "redacted", handler.OutcomeDone
	}
	if ids := handle(t, newProcessor(byBody(script), o), many(50, "permanent")...); len(ids) != 0 {
		t.Errorf("reported %v", ids)
	}
	if len(q.letters) != 50 || slices.ContainsFunc(q.letters, func(l handler.Letter) bool {
		return l.Failure.Message != "no such customer"
	}) {
		t.Errorf("%d letters, the first of them %+v", len(q.letters), q.letters[0].Failure)
	}
}

// errTyped is a nil pointer in an error, which is not nil.
func errTyped[T any, P interface {
	*T
	error
}]() error {
	return P(nil)
}

func TestANilPointerAsErrorIsAFailureOfTheJob(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"*fault.HTTPError":    errTyped[fault.HTTPError](),
		"*handler.Result":     errTyped[handler.Result](),
		"*handler.PanicError": errTyped[handler.PanicError](),
		"*fault.DecodeError":  errTyped[fault.DecodeError](),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			returns := func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.Body == "outside" {
						return err
					}
					return next(ctx, m)
				}
			}
			h := byBody(map[string]func(context.Context, *handler.Message) error{
				"inside": fails(err),
				"goroutine": func(ctx context.Context, _ *handler.Message) error {
					handler.Go(ctx, func(context.Context) error { return err })
					return nil
				},
			})
			q := newQueues()
			o := q.options()
			o.Middleware = []handler.Middleware{returns}
			want := "a nil " + want + " was returned as an error, which is not equal to nil: " +
				"return a plain nil where all went well, and declare what is returned as error"
			for _, body := range []string{"inside", "outside", "goroutine"} {
				handle(t, newProcessor(h, o), record(body, body))
				if got := q.outcomeOf(t, body, "outcome"); got != "retry" {
					t.Errorf("%s: outcome %q, want retry", body, got)
				}
				if got := q.outcomeOf(t, body, "class"); got != "unclassified" {
					t.Errorf("%s: class %q", body, got)
				}
				if got := q.outcomeOf(t, body, "error"); got != want {
					t.Errorf("%s: error %q, want %q", body, got, want)
				}
			}
		})
	}
}

func TestANilPointerFromPrepareIsPermanent(t *testing.T) {
	t.Parallel()
	q := newQueues()
	h := prepares{look: fails(errTyped[fault.ValidationError]()), run: fails(errors.New("ran"))}
	handle(t, newProcessor(h, q.options()), record("m1", ""))
	if len(q.letters) != 1 || q.letters[0].Failure.Reason != fault.ReasonValidation {
		t.Errorf("letters %+v, want one for reason validation", q.letters)
	}
}
