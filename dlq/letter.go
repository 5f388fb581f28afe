package dlq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/handler"
)

// original gives the attributes that the producer set and the id that the
// message had first, whether or not [Restore] has been at the message.
func original(m *handler.Message) (attributes map[string]events.SQSMessageAttribute, id string) {
	attributes, id = m.MessageAttributes, m.MessageId
	if r, unpacked, ok := unpack(m); ok {
		attributes, id = unpacked, r.MessageID
	}
	if m.Replay != nil && m.Replay.MessageID != "" {
		id = m.Replay.MessageID
	}
	return attributes, id
}

func (s *Sender) record(ctx context.Context, l handler.Letter, originalID string) Record {
	m := l.Message
	r := Record{
		Version: Version, Failure: l.Failure, MessageID: originalID, Sent: handler.NewTimestamp(m.SentAt()),
		Source: m.EventSourceARN, Group: m.GroupID(),
		DeduplicationID: m.Attributes["MessageDeduplicationId"],
		SequenceNumber:  m.Attributes["SequenceNumber"],
		Function:        s.function, FunctionVersion: s.functionVersion,
	}
	if m.MessageId != originalID {
		r.DeliveredID = m.MessageId
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		r.RequestID = lc.AwsRequestID
	}
	return r
}

// traceHeader drops the Lineage part, by which Lambda counts how often a
// message went round: a replay is meant, not a loop.
func traceHeader(header string) string {
	var kept []string
	for part := range strings.SplitSeq(header, ";") {
		if part != "" && !strings.HasPrefix(part, "Lineage=") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ";")
}

// deduplicationID is the same for every send of one verdict, so that a repeated
// send makes no second letter: the ledger gives back the time of the verdict as it
// was. The time tells two deaths of one epoch apart, as there are once the ledger
// has forgotten the job in between. SQS drops what has an id of the last five
// minutes, and confirms it. The source queue is part of the id, as it is of the
// ledger's key, since several queues may share a dead-letter queue.
//
// A death without a verdict has the id of the delivered message, not the original's:
// a replay that dies at once must not be taken for a repetition of its first death.
func deduplicationID(m *handler.Message, f handler.Failure) string {
	if !f.Verdict || f.Key == "" {
		return m.MessageId
	}
	died := handler.NewTimestamp(f.Last.Time).UnixMilli()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d:%s", m.EventSourceARN, f.Epoch, died, f.Key))
	return hex.EncodeToString(sum[:])
}

// group is the message's own group. SQS refuses a whole call to a FIFO queue for
// one entry without, so a message that has none is a group by itself there.
func (s *Sender) group(m *handler.Message) string {
	if g := m.GroupID(); g != "" || !s.fifo {
		return g
	}
	return m.MessageId
}
