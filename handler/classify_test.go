package handler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestClassifyAsksTheRulesOfTheProcessor(t *testing.T) {
	t.Parallel()
	missing := &fault.HTTPError{Status: 404}
	if d := handler.Classify(t.Context(), missing); d.Rule != "http.404" || d.Class != fault.ClassPermanent {
		t.Errorf("outside of a handler: %+v, want the standard rule", d)
	}
	if d := handler.Classify(t.Context(), nil); d != (fault.Decision{}) {
		t.Errorf("nil means %+v", d)
	}
	q := newQueues()
	o := q.options()
	o.Classifier = fault.Rules().Override("http.404", fault.ClassRetryable, fault.WithReason("not_yet"))
	p := newProcessor(handler.Func(func(ctx context.Context, _ *handler.Message) error {
		if d := handler.Classify(ctx, missing); d.Class != fault.ClassRetryable || d.Reason != "not_yet" {
			t.Errorf("within a handler: %+v, want what the options say", d)
		}
		return nil
	}), o)
	if ids := handle(t, p, record("m1", "x")); len(ids) != 0 {
		t.Errorf("reported %v", ids)
	}
}

// A function that goes on after some errors, and stops at others.
func ExampleClassify() {
	ctx := context.Background() // that of the handler
	for _, err := range []error{fault.Permanent(errors.New("no such customer")), fault.Retryable(errors.New("busy"))} {
		fmt.Println(handler.Classify(ctx, err).Class)
	}
	// Output:
	// permanent
	// retryable
}
