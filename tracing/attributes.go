package tracing

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sqsafe/sqsafe/handler"
)

// SemanticConventions is the version of OpenTelemetry's semantic conventions that the
// attributes follow.
const SemanticConventions = "1.43.0"

// Attributes of the semantic conventions for messaging.
const (
	messagingSystem = attribute.Key("messaging.system")
	destination     = attribute.Key("messaging.destination.name")
	operationName   = attribute.Key("messaging.operation.name")
	operationType   = attribute.Key("messaging.operation.type")
	batchSize       = attribute.Key("messaging.batch.message_count")
	messageID       = attribute.Key("messaging.message.id")
	errorType       = attribute.Key("error.type")
	exceptionType   = attribute.Key("exception.type")
	exceptionText   = attribute.Key("exception.message")
)

// Attributes of sqsafe. They are stable.
const (
	// KeyAttribute has the idempotency key of the job.
	KeyAttribute = attribute.Key("sqsafe.job.key")
	// AttemptAttribute has the number of the run, from 1.
	AttemptAttribute = attribute.Key("sqsafe.job.attempt")
	// EpochAttribute has how often the job was started again after it was dead.
	EpochAttribute = attribute.Key("sqsafe.job.epoch")
	// ReceiveCountAttribute has how often SQS has delivered the message.
	ReceiveCountAttribute = attribute.Key("sqsafe.message.receive_count")
	// OutcomeAttribute has the outcome of the message.
	OutcomeAttribute = attribute.Key("sqsafe.outcome")
	// ReasonAttribute, ClassAttribute and RuleAttribute have the decision on the error.
	ReasonAttribute = attribute.Key("sqsafe.reason")
	ClassAttribute  = attribute.Key("sqsafe.class")
	RuleAttribute   = attribute.Key("sqsafe.rule")
	// DelayAttribute has the seconds until the message comes back.
	DelayAttribute = attribute.Key("sqsafe.delay")
	// DeadLetterAttribute has the id of the dead letter.
	DeadLetterAttribute = attribute.Key("sqsafe.dead_letter.id")
	// LinkAttribute has what a link leads to: producer, death, or run.
	LinkAttribute = attribute.Key("sqsafe.link")
)

// The operations of the spans, and the values of LinkAttribute.
const (
	operationBatch  = "process"
	operationClaim  = "claim"
	operationRun    = "run"
	operationSettle = "settle"
	operationLetter = "dead-letter"

	linkProducer = "producer"
	linkDeath    = "death"
	linkRun      = "run"
)

// longestKey is how many bytes of a key an attribute has.
const longestKey = 128

// ofMessage returns the attributes of a span for one message.
func ofMessage(m *handler.Message, operation, kind string) []attribute.KeyValue {
	attributes := append(ofQueue(m.QueueName(), operation, kind), messageID.String(m.MessageId),
		ReceiveCountAttribute.Int(m.ReceiveCount()))
	return append(attributes, ofJob(&m.Job)...)
}

func ofJob(j *handler.Job) []attribute.KeyValue {
	if j.Key == "" {
		return nil
	}
	return []attribute.KeyValue{clean(KeyAttribute, j.Key, longestKey), EpochAttribute.Int(j.Epoch)}
}

// clean returns an attribute with at most longest bytes of valid UTF-8: one bad byte would
// keep a whole export from being sent.
func clean(key attribute.Key, value string, longest int) attribute.KeyValue {
	return key.String(strings.ToValidUTF8(value[:min(len(value), longest)], ""))
}

func ofQueue(name, operation, kind string) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		messagingSystem.String("aws_sqs"), destination.String(name), operationName.String(operation),
	}
	if kind != "" {
		attributes = append(attributes, operationType.String(kind))
	}
	return attributes
}

// ofResult returns the attributes of an outcome.
func ofResult(r *handler.Result) []attribute.KeyValue {
	attributes := []attribute.KeyValue{OutcomeAttribute.String(r.Outcome.String())}
	if r.Decision.Reason != "" {
		attributes = append(attributes, clean(ReasonAttribute, r.Decision.Reason, longestKey))
	}
	if r.Decision.Rule != "" {
		attributes = append(attributes, clean(RuleAttribute, r.Decision.Rule, longestKey))
	}
	if r.Err != nil {
		attributes = append(attributes, ClassAttribute.String(r.Decision.Class.String()))
	}
	if r.Delay > 0 {
		attributes = append(attributes, DelayAttribute.Float64(r.Delay.Seconds()))
	}
	return attributes
}

// longestError is how many bytes of an error's text a span has.
const longestError = 1 << 10

// record adds an error to a span, with the given text as its status and type.
func record(span trace.Span, err error, status string) {
	span.AddEvent("exception", trace.WithAttributes(exceptionType.String(fmt.Sprintf("%T", err)),
		clean(exceptionText, fmt.Sprintf("%v", err), longestError)))
	span.SetStatus(codes.Error, strings.ToValidUTF8(status, ""))
	span.SetAttributes(clean(errorType, status, longestKey))
}

// kindOf returns the span kind that the conventions want.
func kindOf(operation string) trace.SpanKind {
	switch operation {
	case operationBatch, operationRun:
		return trace.SpanKindConsumer
	case operationLetter:
		return trace.SpanKindProducer
	case operationSettle, operationClaim:
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}
