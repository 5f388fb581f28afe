package deadletters

import (
	"crypto/md5" //nolint:gosec // the digest that SQS uses
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Message is a message as SQS delivered it, with all that is needed to send it again.
type Message struct {
	ID         string
	Body       string
	Attributes map[string]types.MessageAttributeValue
	// System has the system attributes by name.
	System map[string]string

	handle string
}

// MaxBytes is what SQS allows a message, and all messages of a call together (SQS quotas).
const MaxBytes = 1 << 20

func newMessage(m *types.Message) *Message {
	return &Message{
		ID: aws.ToString(m.MessageId), Body: aws.ToString(m.Body), Attributes: m.MessageAttributes,
		System: m.Attributes, handle: aws.ToString(m.ReceiptHandle),
	}
}

// Group returns the message group; empty without one.
func (m *Message) Group() string {
	return m.System[string(types.MessageSystemAttributeNameMessageGroupId)]
}

// Sequence returns the sequence number in a FIFO queue.
func (m *Message) Sequence() string {
	return m.System[string(types.MessageSystemAttributeNameSequenceNumber)]
}

// Sent returns when the message entered the queue. SQS moves messages of standard queues
// with the time at which they entered their first queue.
func (m *Message) Sent() time.Time {
	ms, err := strconv.ParseInt(m.System[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Receives returns how often the message was received from the queue, this time included.
func (m *Message) Receives() int {
	n, _ := strconv.Atoi(m.System[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	return n
}

// Source returns the ARN of the queue from which SQS moved the message; empty if it did
// not.
func (m *Message) Source() string {
	return m.System[string(types.MessageSystemAttributeNameDeadLetterQueueSourceArn)]
}

// Size returns what the message counts towards the limit of SQS: body, and names, types
// and values of attributes.
func (m *Message) Size() int { return len(m.Body) + attributesSize(m.Attributes) }

func attributesSize(attributes map[string]types.MessageAttributeValue) int {
	size := 0
	for name, a := range attributes {
		size += len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	return size
}

// BodyDigest returns the MD5 of a body as SQS returns it.
func BodyDigest(body string) string {
	sum := md5.Sum([]byte(body)) //nolint:gosec // the digest that SQS uses
	return hex.EncodeToString(sum[:])
}

// AttributesDigest returns the MD5 of message attributes as SQS returns it; empty for none.
// The SQS developer guide has the algorithm, under "calculating the MD5 message digest
// for message attributes".
func AttributesDigest(attributes map[string]types.MessageAttributeValue) string {
	if len(attributes) == 0 {
		return ""
	}
	const text, bytes = 1, 2
	h := md5.New() //nolint:gosec // the digest that SQS uses
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		digestPart(h, name)
		digestPart(h, aws.ToString(a.DataType))
		if a.StringValue != nil {
			h.Write([]byte{text})
			digestPart(h, *a.StringValue)
			continue
		}
		h.Write([]byte{bytes})
		digestPart(h, string(a.BinaryValue))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digestPart(h hash.Hash, part string) {
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
	h.Write([]byte(part))
}
