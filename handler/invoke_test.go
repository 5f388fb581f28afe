package handler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

func TestInvokeAnswersAsLambdaReadsIt(t *testing.T) {
	t.Parallel()
	p := newProcessor(byBody(map[string]func(context.Context, *handler.Message) error{
		"odd": fails(errOdd),
	}), newQueues().options())
	const records = `{"Records":[{"messageId":"m1","body":"good"},{"messageId":"m2","body":"odd"}]}`
	for event, want := range map[string]string{
		records:          `{"batchItemFailures":[{"itemIdentifier":"m2"}]}`,
		`{"Records":[]}`: `{"batchItemFailures":[]}`,
	} {
		got, err := p.Invoke(t.Context(), []byte(event))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("answer to %s (-want +got):\n%s", event, diff)
		}
	}
}

func TestInvokeRefusesWhatIsNotFromSQS(t *testing.T) {
	t.Parallel()
	p := newProcessor(byBody(nil), newQueues().options())
	for _, event := range []string{``, `{`, `[]`, `{}`, `{"Records":[{"messageId":""}]}`, `{"detail-type":"x"}`} {
		if got, err := p.Invoke(t.Context(), []byte(event)); !errors.Is(err, handler.ErrNotSQS) || got != nil {
			t.Errorf("%s: answer %s, error %v", event, got, err)
		}
	}
}
