package dlq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/handler"
)

// origin is a message as its producer sent it.
type origin struct {
	attributes map[string]events.SQSMessageAttribute
	id, sender string
}

// original returns what the producer has sent, before or after [Restore].
func original(m *handler.Message) origin {
	o := origin{m.MessageAttributes, m.MessageId, m.Attributes["SenderId"]}
	if r, unpacked, ok := unpack(m); ok {
		o = origin{unpacked, r.MessageID, r.SenderID}
	}
	if m.Replay != nil && m.Replay.MessageID != "" {
		o.id, o.sender = m.Replay.MessageID, m.Replay.SenderID
	}
	return o
}

func (s *Sender) record(ctx context.Context, l handler.Letter, first origin) Record {
	m := l.Message
	r := Record{
		Version: Version, Failure: l.Failure, MessageID: first.id, SenderID: first.sender,
		Sent:   handler.NewTimestamp(m.SentAt()),
		Source: m.EventSourceARN, Group: m.GroupID(),
		DeduplicationID: m.Attributes["MessageDeduplicationId"],
		SequenceNumber:  m.Attributes["SequenceNumber"],
		Function:        s.function, FunctionVersion: s.functionVersion,
	}
	if m.MessageId != first.id {
		r.DeliveredID = m.MessageId
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		r.RequestID = lc.AwsRequestID
	}
	return r
}

// deduplicationID returns the same id for every send of one verdict, so that a repeated
// send creates no second letter. The id contains the time of the verdict, which the
// ledger returns unchanged. The time distinguishes two deaths of one epoch, which happen
// if the ledger has forgotten the job in between. SQS drops a message with an id of the
// last five minutes, and confirms it. The id also contains the source queue, like the
// ledger's key, since several queues may use one dead-letter queue.
//
// For a death without a verdict it is the id of the delivered message, not the original
// one: a replay that dies at once must not count as a repetition of its first death.
func deduplicationID(m *handler.Message, f handler.Failure) string {
	if !f.Verdict || f.Key == "" {
		return m.MessageId
	}
	died := handler.NewTimestamp(f.Last.Time).UnixMilli()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d:%s", m.EventSourceARN, f.Epoch, died, f.Key))
	return hex.EncodeToString(sum[:])
}

// group returns the message's group. SQS refuses a whole call to a FIFO queue if one
// entry has no group, so a message without one is a group of its own there.
func (s *Sender) group(m *handler.Message) string {
	if g := m.GroupID(); g != "" || !s.fifo {
		return g
	}
	return m.MessageId
}
