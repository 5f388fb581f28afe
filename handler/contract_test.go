package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestResponseIsNeverNull(t *testing.T) {
	t.Parallel()
	p := newProcessor(byBody(script), newQueues().options())
	for _, tt := range []struct {
		name   string
		event  events.SQSEvent
		golden string
	}{
		{"nothing failed", event(record("m1", "good")), `{"batchItemFailures":[]}`},
		{"no records", event(), `{"batchItemFailures":[]}`},
		{"one failed", event(record("m1", "reset")), `{"batchItemFailures":[{"itemIdentifier":"m1"}]}`},
		{"the same id twice", event(record("m1", "reset"), record("m1", "reset")),
			`{"batchItemFailures":[{"itemIdentifier":"m1"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.event.Records == nil {
				tt.event.Records = []events.SQSMessage{}
			}
			response, err := p.Handle(t.Context(), tt.event)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(response)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.golden {
				t.Errorf("got %s, want %s", got, tt.golden)
			}
		})
	}
}

func TestOnlyAnUntrustworthyEventIsAnError(t *testing.T) {
	t.Parallel()
	foreign := record("m1", "x")
	foreign.EventSource = "aws:s3"
	for name, e := range map[string]events.SQSEvent{
		"another event":  {},
		"no message id":  event(record("m1", "x"), record("", "x")),
		"another source": event(foreign),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := false
			h := handler.Func(func(context.Context, *handler.Message) error { ran = true; return nil })
			_, err := newProcessor(h, nil).Handle(t.Context(), e)
			if !errors.Is(err, handler.ErrNotSQS) {
				t.Errorf("error %v, want ErrNotSQS", err)
			}
			if ran {
				t.Error("the handler ran")
			}
		})
	}
}

// TestEachMessageIsEitherReportedOrAccountedFor walks through random batches with
// random faults of both queues.
func TestEachMessageIsEitherReportedOrAccountedFor(t *testing.T) {
	t.Parallel()
	bodies := []string{"good", "reset", "permanent", "odd", "wait", "environment"}
	rapid.Check(t, func(t *rapid.T) {
		q := newQueues()
		q.sendErr, q.hideErr = map[string]error{}, map[string]error{}
		done := map[string]bool{}
		h := func(ctx context.Context, m *handler.Message) error {
			err := byBody(script)(ctx, m)
			done[m.MessageId] = err == nil
			return err
		}
		var records []events.SQSMessage
		for i := range rapid.IntRange(0, 30).Draw(t, "messages") {
			id := fmt.Sprintf("m%d", i)
			r := received(rapid.IntRange(1, 31).Draw(t, "receives"), record(id, rapid.SampledFrom(bodies).Draw(t, "body")))
			if rapid.Bool().Draw(t, "send fails") {
				q.sendErr[id] = errOdd
			}
			if rapid.Bool().Draw(t, "hide fails") {
				q.hideErr[id] = errOdd
			}
			records = append(records, r)
		}
		response, err := newProcessor(handler.Func(h), q.options()).Handle(context.Background(),
			events.SQSEvent{Records: append([]events.SQSMessage{}, records...)})
		if err != nil {
			t.Fatal(err)
		}
		back := reported(response)
		for _, r := range records {
			dead := slices.Contains(q.dead(), r.MessageId)
			if slices.Contains(back, r.MessageId) == (done[r.MessageId] || dead) {
				t.Fatalf("%s %s: done %v, dead %v, reported %v", r.MessageId, r.Body, done[r.MessageId], dead, back)
			}
			if h, ok := q.hidden[r.MessageId]; ok && h.Seconds() < 1 {
				t.Fatalf("%s comes back after %v: nothing is retried at once", r.MessageId, h)
			}
		}
	})
}

// FuzzEvent feeds raw events, as the runtime would decode them.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"Records":[{"messageId":"m1","body":"good","attributes":{"ApproximateReceiveCount":"3"}}]}`))
	f.Add([]byte(`{"Records":[{"messageId":"m1","body":"reset","eventSourceARN":"a:b.fifo"},{"messageId":"m1"}]}`))
	f.Add([]byte(`{"Records":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e events.SQSEvent
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		response, err := newProcessor(byBody(script), newQueues().options()).Handle(t.Context(), e)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, failure := range response.BatchItemFailures {
			id := failure.ItemIdentifier
			known := slices.ContainsFunc(e.Records, func(r events.SQSMessage) bool { return r.MessageId == id })
			if id == "" || seen[id] || !known {
				t.Fatalf("reported %q of %s", id, raw)
			}
			seen[id] = true
		}
	})
}

func TestMiddlewareOrder(t *testing.T) {
	t.Parallel()
	var calls []string
	probe := func(name string) handler.Middleware {
		return func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				calls = append(calls, name+" in")
				err := next(ctx, m)
				calls = append(calls, fmt.Sprintf("%s out %v", name, handler.AsResult(err) != nil))
				return err
			}
		}
	}
	o := newQueues().options()
	o.Middleware = []handler.Middleware{probe("outer"), nil, probe("inner")}
	handle(t, newProcessor(byBody(script), o), record("m1", "reset"))
	want := []string{"outer in", "inner in", "inner out true", "outer out true"}
	if !slices.Equal(calls, want) {
		t.Errorf("calls %v, want %v: errors are classified before middleware sees them", calls, want)
	}
}

func TestAnErrorOfMiddlewareIsClassifiedToo(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
		return fails(fault.Permanent(errOdd, fault.WithReason("refused")))
	}}
	handle(t, newProcessor(byBody(nil), o), record("m1", "x"))
	if len(q.letters) != 1 || q.letters[0].Failure.Reason != "refused" {
		t.Errorf("dead letters %+v, want one with the reason refused", q.letters)
	}
}

func TestResultOfMiddlewareIsTheOutcome(t *testing.T) {
	t.Parallel()
	for outcome, wantReported := range map[handler.Outcome]int{
		handler.OutcomeDuplicate:  0,
		handler.OutcomeBusy:       1,
		handler.OutcomeUnrecorded: 1,
		handler.OutcomeDeferred:   1,
	} {
		o := newQueues().options()
		o.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
			return fails(fmt.Errorf("wrapped: %w", &handler.Result{Outcome: outcome}))
		}}
		ids := handle(t, newProcessor(byBody(nil), o), record("m1", "x"))
		if len(ids) != wantReported {
			t.Errorf("%v: reported %v, want %d", outcome, ids, wantReported)
		}
	}
}
