package tracing_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.opentelemetry.io/otel/trace"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/producer"
	"github.com/sqsafe/sqsafe/tracing"
)

type order struct {
	ID string `json:"id"`
}

// atOnce tries a job twice, without a pause.
type atOnce struct{}

func (atOnce) Delay(int, func() float64) time.Duration { return 0 }
func (atOnce) Attempts() int                           { return 2 }

// story is a queue with its dead-letter queue, and a function.
type story struct {
	t         *testing.T
	client    *sqs.Client
	urls      map[string]string
	processor *handler.Processor
}

func newStory(t *testing.T, tracer *tracing.Tracer, fn func(context.Context, order) error) *story {
	t.Helper()
	s := &story{t: t, client: sqs.NewFromConfig(localtest.Config(localaws.New(nil))), urls: map[string]string{}}
	for _, name := range []string{"orders", "orders-dead", "shipments"} {
		out, err := s.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		if err != nil {
			t.Fatal(err)
		}
		s.urls[name] = *out.QueueUrl
	}
	letters, err := dlq.NewSender(s.client, s.urls["orders-dead"], nil)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		t.Fatal(err)
	}
	s.processor, err = handler.NewProcessor(handler.JSON(fn), &handler.Options{
		Ledger: ledger, DeadLetter: letters, Restore: dlq.Restore, Instrument: tracer.Instrument,
		Backoff: atOnce{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take receives the only message of a queue, as Lambda hands it out.
func (s *story) take(queue string) events.SQSMessage {
	s.t.Helper()
	out, err := s.client.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(s.urls[queue]), MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil || len(out.Messages) != 1 {
		s.t.Fatalf("%d messages in %s, %v", len(out.Messages), queue, err)
	}
	m := out.Messages[0]
	record := events.SQSMessage{
		MessageId: *m.MessageId, Body: *m.Body, EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:" + queue,
		ReceiptHandle: *m.ReceiptHandle, Attributes: m.Attributes,
		MessageAttributes: map[string]events.SQSMessageAttribute{},
	}
	for name, a := range m.MessageAttributes {
		record.MessageAttributes[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue}
	}
	return record
}

// handle runs one batch, in an invocation that Lambda traces with X-Ray.
func (s *story) handle(record events.SQSMessage) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	ctx = context.WithValue(ctx, "x-amzn-trace-id", header) //nolint:staticcheck // the key of aws-lambda-go
	if _, err := s.processor.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{record}}); err != nil {
		s.t.Fatal(err)
	}
}

// TestATraceIsFollowedThroughRetryDeathAndReplay follows a job from its producer through a
// failed run, its death, and the replay of its dead letter, which sends another job.
func TestATraceIsFollowedThroughRetryDeathAndReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, followThroughRetryDeathAndReplay)
}

func followThroughRetryDeathAndReplay(t *testing.T) {
	var to receiver
	provider := newProvider(t, &to)
	tracer, err := tracing.New(provider, nil)
	if err != nil {
		t.Fatal(err)
	}
	var s *story
	broken := true
	s = newStory(t, tracer, func(ctx context.Context, o order) error {
		if broken {
			return fault.Retryable(errors.New("provider is \xff down"))
		}
		p, err := producer.New(s.client, s.urls["shipments"], &producer.Options{Trace: tracing.Inject})
		if err != nil {
			return err
		}
		_, err = p.Send(ctx, producer.Job{Payload: o})
		return err
	})
	ctx, sending := provider.Tracer("shop").Start(t.Context(), "checkout")
	shop, err := producer.New(s.client, s.urls["orders"], &producer.Options{Trace: tracing.Inject})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Send(ctx, producer.Job{Payload: order{"o-7"}}); err != nil {
		t.Fatal(err)
	}
	sending.End()

	message := s.take("orders")
	s.handle(message)
	<-time.After(2 * time.Second) // the shortest backoff
	message.Attributes["ApproximateReceiveCount"] = "2"
	s.handle(message)
	letter := s.take("orders-dead")
	letter.EventSourceARN = message.EventSourceARN // as a replay sends it back
	letter.MessageId, broken = "replay", false
	s.handle(letter)

	batches, runs, letters := to.named("process orders"), to.named("run orders"), to.named("dead-letter orders")
	claims, settles := to.named("claim orders"), to.named("settle orders")
	if len(batches) != 3 || len(runs) != 3 || len(letters) != 1 || len(claims) != 3 || len(settles) != 3 {
		t.Fatalf("%d batches, %d claims, %d runs, %d settles, %d letters",
			len(batches), len(claims), len(runs), len(settles), len(letters))
	}
	sent := sending.SpanContext().TraceID().String() + "-" + sending.SpanContext().SpanID().String()
	for i, run := range runs {
		if linked(run, "producer") != sent || linked(batches[i], "producer") != sent {
			t.Errorf("run %d is not linked to its producer", i)
		}
		if !bytes.Equal(run.GetParentSpanId(), batches[i].GetSpanId()) ||
			hex.EncodeToString(batches[i].GetParentSpanId()) != "53995c3f42cd8ad8" {
			t.Errorf("run %d is not in the trace of its invocation", i)
		}
		if linked(settles[i], "run") != id(run) || !bytes.Equal(claims[i].GetParentSpanId(), batches[i].GetSpanId()) {
			t.Errorf("claim and settle %d do not belong to the run", i)
		}
	}
	for i, want := range []map[string]string{
		{"sqsafe.job.attempt": "1", "sqsafe.outcome": "retry", "sqsafe.reason": "tagged", "error.type": "tagged"},
		{"sqsafe.job.attempt": "2", "sqsafe.outcome": "dead", "sqsafe.reason": "exhausted", "sqsafe.class": "retryable"},
		{"sqsafe.job.attempt": "3", "sqsafe.outcome": "done", "sqsafe.job.epoch": "1", "sqsafe.reason": ""},
	} {
		want["sqsafe.job.key"], want["messaging.system"], want["messaging.operation.type"] = "o-7", "aws_sqs", "process"
		got := attributes(runs[i].GetAttributes())
		for name, value := range want {
			if got[name] != value {
				t.Errorf("run %d: %s is %q, want %q", i, name, got[name], value)
			}
		}
		if failed := runs[i].GetStatus().GetCode() == spans.Status_STATUS_CODE_ERROR; failed != (i < 2) {
			t.Errorf("run %d: status %v", i, runs[i].GetStatus())
		}
	}
	if text := attributes(runs[0].GetEvents()[0].GetAttributes())["exception.message"]; text != "provider is  down" {
		t.Errorf("the error is recorded as %q", text)
	}
	if linked(letters[0], "run") != id(runs[1]) || attributes(letters[0].GetAttributes())["sqsafe.dead_letter.id"] == "" {
		t.Errorf("the dead letter is not linked to the run that died: %v", letters[0])
	}
	if linked(runs[2], "death") != id(runs[1]) {
		t.Error("the replay is not linked to the run in which the job died")
	}
	shipment := s.take("shipments")
	if parent := *shipment.MessageAttributes["traceparent"].StringValue; parent != "00-"+id(runs[2])+"-01" {
		t.Errorf("the job that was sent has traceparent %s, want the run %s", parent, id(runs[2]))
	}
	if header := shipment.Attributes["AWSTraceHeader"]; !strings.Contains(header, "Sampled=1") {
		t.Errorf("the job that was sent has the trace header %q", header)
	}
}

func TestTheProducerMayBeKnownByXRayAlone(t *testing.T) {
	t.Parallel()
	var to receiver
	tracer, err := tracing.New(newProvider(t, &to), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	s := newStory(t, tracer, func(ctx context.Context, _ order) error { seen = tracing.TraceID(ctx); return nil })
	s.handle(events.SQSMessage{
		MessageId: "m1", Body: `{"id":"o-8"}`, EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:orders",
		Attributes: map[string]string{"AWSTraceHeader": "Root=1-67891233-abcdef012345678912345678;" +
			"Parent=463ac35c9f6413ad;Sampled=1;Lineage=25:x:0"},
	})
	runs := to.named("run orders")
	if len(runs) != 1 || linked(runs[0], "producer") != "67891233abcdef012345678912345678-463ac35c9f6413ad" {
		t.Errorf("runs %v", runs)
	}
	if seen != "5759e988bd862e3fe1be46a994272793" {
		t.Errorf("trace id %q, want that of the invocation", seen)
	}
}

func TestWithoutASpanNothingIsInjected(t *testing.T) {
	t.Parallel()
	if carried := tracing.Inject(t.Context()); carried != nil || tracing.TraceID(t.Context()) != "" {
		t.Errorf("%v", carried)
	}
	state, err := trace.ParseTraceState("a=b")
	if err != nil {
		t.Fatal(err)
	}
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: state,
	}))
	if carried := tracing.Inject(ctx); carried["tracestate"] != "a=b" ||
		carried["traceparent"] != "00-01000000000000000000000000000000-0200000000000000-00" {
		t.Errorf("%v", carried)
	}
}
