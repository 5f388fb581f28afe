package runbook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/queue"
)

// job is a charge, or goods taken from stock.
type job struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Currency string `json:"currency"`
}

// Validate does what that of the charge function does, as far as the scenarios
// need it.
func (j job) Validate() error {
	if j.Currency != "EUR" {
		return errors.New("currency must be an ISO 4217 code such as EUR")
	}
	return nil
}

// run runs the job; the provider's answer decides the result.
func (w *world) run(_ context.Context, j job) error {
	if status := w.declines[j.Customer]; status != 0 {
		return fault.CheckResponse(&http.Response{
			StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Body: http.NoBody,
		})
	}
	w.done[j.ID]++
	return nil
}

// processor returns the processor of the function.
func (w *world) processor(dead string) *handler.Processor {
	silent := slog.New(slog.DiscardHandler)
	sender, err := dlq.NewSender(w.sqs, w.urls[dead], &dlq.Options{
		Function: function, FunctionVersion: w.version, Logger: silent,
	})
	w.check(err)
	source, err := queue.New(w.sqs, &queue.Options{Endpoint: w.web.URL})
	w.check(err)
	store := dynamo.New(w.dynamodb, table, nil)
	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id"), Logger: silent})
	w.check(err)
	p, err := handler.NewProcessor(handler.JSON(w.run), &handler.Options{
		Restore: dlq.Restore, Ledger: ledger,
		DeadLetter: sender, Queue: source, MaxReceives: maxReceives, Logger: silent,
		// One attempt, so that a letter does not have to wait for its last.
		Backoff: backoff.Exponential{MaxAttempts: 1}, UnclassifiedAttempts: 1,
	})
	w.check(err)
	return p
}

// consume lets the function process all jobs of its queue. The function uses
// the clock of the machine, which may differ from the clock of the queues by
// seconds.
func (w *world) consume(source, dead string) {
	w.Helper()
	p := w.processor(dead)
	for {
		batch := w.receive(source)
		if len(batch.Records) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(lambdacontext.NewContext(w.Context(), &lambdacontext.LambdaContext{
			AwsRequestID: "2c5e8f71-4b0d-4c39-9a6e-d1f27b83c045",
		}), 30*time.Second)
		answer, err := p.Handle(ctx, batch)
		cancel()
		w.check(err)
		failed := map[string]bool{}
		for _, f := range answer.BatchItemFailures {
			failed[f.ItemIdentifier] = true
		}
		for _, r := range batch.Records {
			if !failed[r.MessageId] {
				w.remove(source, r.ReceiptHandle)
			}
		}
	}
}

func (w *world) remove(name, handle string) {
	w.Helper()
	in := &sqs.DeleteMessageInput{QueueUrl: aws.String(w.urls[name]), ReceiptHandle: &handle}
	_, err := w.sqs.DeleteMessage(w.Context(), in)
	w.check(err)
}

// receive receives a batch as Lambda passes it to the function.
func (w *world) receive(name string) (batch events.SQSEvent) {
	w.Helper()
	out, err := w.sqs.ReceiveMessage(w.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(w.urls[name]), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	w.check(err)
	for _, m := range out.Messages {
		r := events.SQSMessage{
			MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: m.Attributes,
			EventSource: "aws:sqs", EventSourceARN: arn(name), AWSRegion: region,
			MessageAttributes: map[string]events.SQSMessageAttribute{},
		}
		for name, a := range m.MessageAttributes {
			r.MessageAttributes[name] = events.SQSMessageAttribute{
				StringValue: a.StringValue, BinaryValue: a.BinaryValue, DataType: aws.ToString(a.DataType),
			}
		}
		batch.Records = append(batch.Records, r)
	}
	return batch
}
