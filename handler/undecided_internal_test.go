package handler

import (
	"context"
	"log/slog"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

// No way to this is known, so that it is made here.
func TestAMessageWithoutAResultComesBack(t *testing.T) {
	t.Parallel()
	good := Func(func(context.Context, *Message) error { return nil })
	p := NewProcessor(good, &Options{Logger: slog.New(slog.DiscardHandler)})
	b := p.newBatch(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1"}, {MessageId: "m2"}}})
	b.entries[0].result = &Result{Outcome: OutcomeDone}
	b.reportUndecided()
	b.hide()
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "m2"}}
	if diff := cmp.Diff(want, b.response().BatchItemFailures); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if got := b.report().Counts[1]; got.Outcome != OutcomeNone || got.Reason != ReasonNoOutcome {
		t.Errorf("counted as %+v", got)
	}
}
