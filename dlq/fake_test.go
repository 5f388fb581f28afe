package dlq_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

const (
	standardURL = "https://sqs.eu-central-1.amazonaws.com/123456789012/charge-dlq"
	fifoURL     = "https://sqs.eu-central-1.amazonaws.com/123456789012/stock-dlq.fifo"
	chargeARN   = "arn:aws:sqs:eu-central-1:123456789012:charge"
)

type requestEntry = types.SendMessageBatchRequestEntry

// fakeQueue takes messages as strictly as SQS and keeps them. What it does to an
// entry beside goes by the body.
type fakeQueue struct {
	refuse     map[string]types.BatchResultErrorEntry
	silent     map[string]bool
	contradict map[string]bool
	callErr    map[string]error
	// fails is how often a letter fails on the side of SQS.
	fails map[string]int
	// entered is called at the start of each call, where it is set.
	entered func()

	mu sync.Mutex
	// calls are the entries of each call, arrived those that were taken.
	calls   [][]requestEntry
	arrived []requestEntry
}

func (f *fakeQueue) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	if f.entered != nil {
		f.entered()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, in.Entries)
	if err := illegalCall(in); err != nil {
		return nil, err
	}
	out := &sqs.SendMessageBatchOutput{}
	for i, e := range in.Entries {
		body := *e.MessageBody
		if err := f.callErr[body]; err != nil {
			return nil, err
		}
		refusal, refused := f.refuse[body]
		if f.fails[body] > 0 {
			f.fails[body]--
			refusal, refused = types.BatchResultErrorEntry{Code: aws.String("InternalError")}, true
		}
		if err := illegalEntry(e); err != nil {
			refusal, refused = types.BatchResultErrorEntry{Code: aws.String(err.Error()), SenderFault: true}, true
		}
		if refused || f.contradict[body] {
			refusal.Id = e.Id
			out.Failed = append(out.Failed, refusal)
		}
		if refused || f.silent[body] {
			continue
		}
		f.arrived = append(f.arrived, e)
		// Answers come in an order of their own.
		out.Successful = append([]types.SendMessageBatchResultEntry{{
			Id: e.Id, MessageId: aws.String(fmt.Sprintf("dlq-%d-%d", len(f.calls), i)),
		}}, out.Successful...)
	}
	return out, nil
}

// illegalCall names what SQS refuses a whole call for.
func illegalCall(in *sqs.SendMessageBatchInput) error {
	if len(in.Entries) < 1 || len(in.Entries) > 10 {
		return fmt.Errorf("%d entries", len(in.Entries))
	}
	total := 0
	fifo := strings.HasSuffix(*in.QueueUrl, ".fifo")
	for i, e := range in.Entries {
		if *e.Id != strconv.Itoa(i) {
			return fmt.Errorf("entry %d has the id %q", i, *e.Id)
		}
		if fifo && aws.ToString(e.MessageGroupId) == "" {
			return fmt.Errorf("MissingParameter: entry %d has no MessageGroupId", i)
		}
		if fifo != (aws.ToString(e.MessageDeduplicationId) != "") || len(aws.ToString(e.MessageDeduplicationId)) > 128 {
			return fmt.Errorf("entry %d has the deduplication id %q", i, aws.ToString(e.MessageDeduplicationId))
		}
		total += size(e)
	}
	if total > 1<<20 {
		return fmt.Errorf("BatchRequestTooLong: %d bytes", total)
	}
	return nil
}

// illegalEntry names what SQS refuses an entry for.
func illegalEntry(e requestEntry) error {
	if err := illegalText(*e.MessageBody); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if len(e.MessageAttributes) > 10 {
		return fmt.Errorf("%d attributes", len(e.MessageAttributes))
	}
	for name, a := range e.MessageAttributes {
		base, _, _ := strings.Cut(*a.DataType, ".")
		switch {
		case base == "Binary" && (len(a.BinaryValue) == 0 || a.StringValue != nil):
			return fmt.Errorf("attribute %s: no binary value", name)
		case base != "Binary" && a.BinaryValue != nil:
			return fmt.Errorf("attribute %s: a binary value", name)
		case base == "String", base == "Number":
			if err := illegalText(aws.ToString(a.StringValue)); err != nil {
				return fmt.Errorf("attribute %s: %w", name, err)
			}
		case base != "Binary":
			return fmt.Errorf("attribute %s: type %q", name, *a.DataType)
		}
	}
	return nil
}

func illegalText(s string) error {
	if s == "" || !utf8.ValidString(s) {
		return fmt.Errorf("empty, or not UTF-8: %q", s)
	}
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return fmt.Errorf("illegal character %U", r)
		}
	}
	return nil
}

// size is what SQS counts of a message.
func size(e requestEntry) int {
	n := len(*e.MessageBody)
	for name, a := range e.MessageAttributes {
		n += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	return n
}

// delivered is the entry as Lambda hands it out again, under a new message id.
func delivered(e requestEntry, id string) *handler.Message {
	m := &handler.Message{}
	m.MessageId, m.Body, m.EventSourceARN = id, *e.MessageBody, chargeARN
	m.MessageAttributes = map[string]events.SQSMessageAttribute{}
	for name, a := range e.MessageAttributes {
		m.MessageAttributes[name] = events.SQSMessageAttribute{
			DataType: *a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue,
		}
	}
	return m
}

// message is a message of the charge queue with String attributes.
func message(id, body string, attributes map[string]string) *handler.Message {
	m := &handler.Message{}
	m.MessageId, m.Body, m.EventSourceARN = id, body, chargeARN
	m.MessageAttributes = make(map[string]events.SQSMessageAttribute, len(attributes))
	for name, value := range attributes {
		m.MessageAttributes[name] = stringAttribute(value)
	}
	return m
}

func stringAttribute(value string) events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: "String", StringValue: &value}
}

func letterOf(m *handler.Message) handler.Letter {
	return handler.Letter{Message: m, Failure: handler.Failure{Class: "permanent", Reason: "validation", Rule: "tag"}}
}

// send sends the letters to the queue of that URL and gives them with their answers.
func send(
	ctx context.Context, t testing.TB, api dlq.API, url string, o *dlq.Options, letters ...handler.Letter,
) []handler.Letter {
	t.Helper()
	sender, err := dlq.NewSender(api, url, o)
	if err != nil {
		t.Fatal(err)
	}
	sender.Send(ctx, letters)
	return letters
}

// quiet are options with a logger that says nothing.
var quiet = &dlq.Options{Logger: slog.New(slog.DiscardHandler)}
