package dlq

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

const (
	// maxAttributes is how many attributes SQS allows a message.
	maxAttributes = 10
	// maxRecord bounds a record without its displaced attributes. SQS bills each
	// 64 KiB of a message as a request of its own.
	maxRecord = 64 << 10
	// attributeOverhead is what the attribute takes beside its value.
	attributeOverhead = len(AttributeName) + len(stringType)

	stringType = "String"
)

// message returns the letter as SQS takes it.
func (s *Sender) message(ctx context.Context, l handler.Letter) sqssend.Message {
	m := l.Message
	attributes := s.attributes(ctx, l)
	e := sqssend.Message{
		Request: types.SendMessageBatchRequestEntry{MessageBody: aws.String(m.Body), MessageAttributes: attributes},
		Size:    len(m.Body) + wireSizes(attributes),
	}
	if g := s.group(m); g != "" {
		e.Request.MessageGroupId = aws.String(g)
	}
	if s.fifo {
		e.Request.MessageDeduplicationId = aws.String(deduplicationID(m, l.Failure))
	}
	if header := sqscall.TraceHeader(m.Attributes["AWSTraceHeader"]); header != "" {
		name := string(types.MessageSystemAttributeNameForSendsAWSTraceHeader)
		e.Request.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			name: {DataType: aws.String(stringType), StringValue: aws.String(header)},
		}
	}
	return e
}

// attributes returns the original attributes and the record, or only the attributes if
// there is no room for the record.
func (s *Sender) attributes(ctx context.Context, l handler.Letter) map[string]types.MessageAttributeValue {
	first := original(l.Message)
	kept, displaced := displace(first.attributes)
	record := s.record(ctx, l, first)
	record.Displaced = displaced
	most := maxRecord
	for name, a := range displaced {
		most += a.jsonSize(name)
	}
	room := s.maxBytes - len(l.Message.Body) - wireSizes(kept) - attributeOverhead
	value, err := record.Encode(min(room, most))
	if err != nil {
		s.log.WarnContext(ctx, "dead letter goes without its failure record",
			slog.String("messageId", l.Message.MessageId), slog.String("originalMessageId", first.id),
			slog.Int("room", room), slog.Int("attributes", len(first.attributes)), slog.String("error", err.Error()))
		kept, _ = split(first.attributes)
		return kept
	}
	kept[AttributeName] = types.MessageAttributeValue{DataType: aws.String(stringType), StringValue: &value}
	return kept
}

// split divides the attributes into those that SQS accepts and those it refuses.
func split(originals map[string]events.SQSMessageAttribute) (
	kept map[string]types.MessageAttributeValue, refused map[string]Attribute,
) {
	kept = make(map[string]types.MessageAttributeValue, len(originals)+1)
	refused = map[string]Attribute{}
	for name, received := range originals {
		a := newAttribute(received)
		if v, ok := a.sendable(name); ok {
			kept[name] = v
		} else {
			refused[name] = a
		}
	}
	return kept, refused
}

// displace makes room for the record's attribute. It displaces attributes that SQS would
// refuse, one with the record's name, and if more than nine remain, those that are
// shortest in JSON.
func displace(originals map[string]events.SQSMessageAttribute) (
	kept map[string]types.MessageAttributeValue, displaced map[string]Attribute,
) {
	kept, displaced = split(originals)
	move := func(name string) {
		displaced[name] = newAttribute(originals[name])
		delete(kept, name)
	}
	if _, taken := kept[AttributeName]; taken {
		move(AttributeName)
	}
	if surplus := len(kept) - (maxAttributes - 1); surplus > 0 {
		names := slices.SortedFunc(maps.Keys(kept), func(a, b string) int {
			return cmp.Or(
				cmp.Compare(newAttribute(originals[a]).jsonSize(a), newAttribute(originals[b]).jsonSize(b)),
				cmp.Compare(a, b))
		})
		for _, name := range names[:surplus] {
			move(name)
		}
	}
	return kept, displaced
}

func wireSizes(attributes map[string]types.MessageAttributeValue) int {
	size := 0
	for name, v := range attributes {
		size += sqssend.Size(name, v)
	}
	return size
}
