// Package letterstest makes dead letters for tests: a source queue, its dead-letter queue,
// a ledger, and a function whose jobs fail as a test says.
package letterstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/queue"
)

// Table is the name of the ledger.
const Table = "jobs"

// Stack is the queues, the ledger and the function.
type Stack struct {
	testing.TB

	Server   *localaws.Server
	SQS      *sqs.Client
	DynamoDB *dynamodb.Client
	// Source and Dead are the names of the queues, SourceURL and DeadURL their URLs.
	Source, Dead       string
	SourceURL, DeadURL string
	// Key finds the key of a job; nil takes the member id of the body.
	Key idem.KeyFunc
	// Version is the version of the function.
	Version string
	// Run is the function; nil means [Stack.Script].
	Run handler.Func
	// Done counts the runs that ended well, by body.
	Done map[string]int
	// Mended makes all scripted jobs succeed.
	Mended bool

	attempts int // 0 means 1
	sent     int // messages to FIFO queues
}

// New returns a stack in a server of its own, whose queues are FIFO if source ends with
// ".fifo".
func New(t testing.TB, source string) *Stack {
	t.Helper()
	server := localaws.New(nil)
	return On(t, server, localtest.Config(server), source)
}

// On returns a stack in that server.
func On(t testing.TB, server *localaws.Server, cfg aws.Config, source string) *Stack {
	t.Helper()
	s := &Stack{
		TB: t, Server: server, SQS: sqs.NewFromConfig(cfg), DynamoDB: dynamodb.NewFromConfig(cfg),
		Source: source, Version: "7", Done: map[string]int{},
	}
	base, fifo := strings.CutSuffix(source, ".fifo")
	attributes := map[string]string{"MessageRetentionPeriod": "1209600"}
	s.Dead = base + "-dead"
	if fifo {
		s.Dead += ".fifo"
		attributes["FifoQueue"] = "true"
	}
	s.DeadURL = s.queue(s.Dead, attributes)
	attributes["MessageRetentionPeriod"] = "345600"
	attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":3}`, s.ARN(s.Dead))
	s.SourceURL = s.queue(source, attributes)
	s.table()
	return s
}

func (s *Stack) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// ARN returns the ARN of a queue.
func (s *Stack) ARN(name string) string {
	return "arn:aws:sqs:" + s.Server.Region() + ":000000000000:" + name
}

func (s *Stack) queue(name string, attributes map[string]string) string {
	s.Helper()
	out, err := s.SQS.CreateQueue(s.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: maps.Clone(attributes)})
	s.check(err)
	return *out.QueueUrl
}

func (s *Stack) table() {
	s.Helper()
	_, err := s.DynamoDB.CreateTable(s.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(Table), BillingMode: ddb.BillingModePayPerRequest,
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if exists, ok := errors.AsType[*ddb.ResourceInUseException](err); ok && exists != nil {
		return // two stacks share a ledger
	}
	s.check(err)
	_, err = s.DynamoDB.UpdateTimeToLive(s.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(Table), TimeToLiveSpecification: &ddb.TimeToLiveSpecification{
			AttributeName: aws.String("expiration"), Enabled: aws.Bool(true),
		},
	})
	s.check(err)
}

// Send sends a message to a queue, to a FIFO queue in that group and with an id of its
// own.
func (s *Stack) Send(url, body, group string, attributes map[string]types.MessageAttributeValue) string {
	s.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageAttributes: attributes}
	if group != "" {
		in.MessageGroupId = &group
	}
	if strings.HasSuffix(url, ".fifo") {
		s.sent++
		in.MessageDeduplicationId = aws.String(fmt.Sprintf("d-%d", s.sent))
	}
	out, err := s.SQS.SendMessage(s.Context(), in)
	s.check(err)
	return *out.MessageId
}

// Script is a function that does what the body says: a job whose body has "declined"
// fails for good, with HTTP 422; one with "broken" by an error without a class.
func (s *Stack) Script(_ context.Context, m *handler.Message) error {
	switch {
	case s.Mended:
	case strings.Contains(m.Body, "declined"):
		return fault.CheckResponse(&http.Response{
			StatusCode: http.StatusUnprocessableEntity, Body: http.NoBody, Header: http.Header{"X-Request-Id": {"req-42"}},
		})
	case strings.Contains(m.Body, "broken"):
		return fmt.Errorf("the ledger of %d accounts does not balance", len(m.Body))
	}
	s.Done[m.Body]++
	return nil
}

// Work lets the function process all visible messages of the source queue.
func (s *Stack) Work() {
	s.Helper()
	silent := slog.New(slog.DiscardHandler)
	sender, err := dlq.NewSender(s.SQS, s.DeadURL, &dlq.Options{
		Function: "charge", FunctionVersion: s.Version, Logger: silent,
	})
	s.check(err)
	source, err := queue.New(s.SQS, &queue.Options{Endpoint: localtest.Endpoint})
	s.check(err)
	key := s.Key
	if key == nil {
		key = idem.JSONField("id")
	}
	ledger, err := idem.New(dynamo.New(s.DynamoDB, Table, nil), &idem.Options{Key: key, Logger: silent})
	s.check(err)
	run := s.Run
	if run == nil {
		run = s.Script
	}
	p, err := handler.NewProcessor(run, &handler.Options{
		Restore: dlq.Restore, Ledger: ledger, DeadLetter: sender, Queue: source, MaxReceives: 3, Logger: silent,
		// One attempt, so that a letter does not have to wait for its last.
		Backoff: backoff.Exponential{MaxAttempts: max(1, s.attempts)}, UnclassifiedAttempts: 1,
	})
	s.check(err)
	for {
		batch := s.Receive(s.SourceURL, s.Source)
		if len(batch.Records) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
		answer, err := p.Handle(ctx, batch)
		cancel()
		s.check(err)
		failed := map[string]bool{}
		for _, f := range answer.BatchItemFailures {
			failed[f.ItemIdentifier] = true
		}
		for _, r := range batch.Records {
			if !failed[r.MessageId] {
				s.Remove(s.SourceURL, r.ReceiptHandle)
			}
		}
	}
}

// Bury sends a job to the source queue and lets the function process it.
func (s *Stack) Bury(body, group string) {
	s.Helper()
	s.Send(s.SourceURL, body, group, nil)
	s.Work()
}

// MoveBySQS receives all messages of the source queue so often that SQS moves them.
func (s *Stack) MoveBySQS() {
	s.Helper()
	for range 4 {
		out, err := s.SQS.ReceiveMessage(s.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &s.SourceURL, MaxNumberOfMessages: 10,
		})
		s.check(err)
		for _, m := range out.Messages {
			_, err := s.SQS.ChangeMessageVisibility(s.Context(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &s.SourceURL, ReceiptHandle: m.ReceiptHandle,
			})
			s.check(err)
		}
	}
}

// Remove deletes a message.
func (s *Stack) Remove(url, handle string) {
	s.Helper()
	_, err := s.SQS.DeleteMessage(s.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: &handle})
	s.check(err)
}

// Receive receives up to ten messages as Lambda passes them to a function.
func (s *Stack) Receive(url, name string) (batch events.SQSEvent) {
	s.Helper()
	out, err := s.SQS.ReceiveMessage(s.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	s.check(err)
	for _, m := range out.Messages {
		r := events.SQSMessage{
			MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: m.Attributes,
			EventSource: "aws:sqs", EventSourceARN: s.ARN(name), AWSRegion: s.Server.Region(),
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

// Drain returns the messages of a queue, and deletes them.
func (s *Stack) Drain(url string) []types.Message {
	s.Helper()
	var all []types.Message
	for {
		out, err := s.SQS.ReceiveMessage(s.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		s.check(err)
		if len(out.Messages) == 0 {
			return all
		}
		for i := range out.Messages {
			s.Remove(url, *out.Messages[i].ReceiptHandle)
		}
		all = append(all, out.Messages...)
	}
}

// RunOnce lets the function fail all visible messages of the source queue once, by an
// error that may pass, so that they wait for another attempt with a job in the ledger.
func (s *Stack) RunOnce() {
	s.Helper()
	run := s.Run
	s.Run = func(context.Context, *handler.Message) error { return fault.Retryable(fmt.Errorf("not now")) }
	s.attempts = 5
	s.Work()
	s.Run, s.attempts = run, 0
	// The messages wait for their backoff: make them visible.
	<-time.After(6 * time.Minute)
}

// Retrying sends a job and lets the function run it once. It must fail by an error that may
// pass; then it waits for its next attempt.
func (s *Stack) Retrying(body string) {
	s.Helper()
	s.attempts = 5
	s.Send(s.SourceURL, body, "", nil)
	s.Work()
	s.attempts = 0
}

// Forget deletes a job from the ledger, as its expiration does.
func (s *Stack) Forget(id string) {
	s.Helper()
	_, err := s.DynamoDB.DeleteItem(s.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(Table), Key: map[string]ddb.AttributeValue{"id": &ddb.AttributeValueMemberS{Value: id}},
	})
	s.check(err)
}

// SetMaxBytes sets the size of the largest message that a queue takes.
func (s *Stack) SetMaxBytes(url string, n int) {
	s.Helper()
	_, err := s.SQS.SetQueueAttributes(s.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &url, Attributes: map[string]string{"MaximumMessageSize": fmt.Sprint(n)},
	})
	s.check(err)
}

// StartMove lets SQS move the letters back, one a second.
func (s *Stack) StartMove() {
	s.Helper()
	_, err := s.SQS.StartMessageMoveTask(s.Context(), &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(s.ARN(s.Dead)), DestinationArn: aws.String(s.ARN(s.Source)),
		MaxNumberOfMessagesPerSecond: aws.Int32(1),
	})
	s.check(err)
}
