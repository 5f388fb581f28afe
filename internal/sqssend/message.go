package sqssend

import (
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// MaxBytes is the most bytes of a message, and of all messages of a call together (SQS
// quotas).
const MaxBytes = 1 << 20

// Message is one message as SQS takes it, without an id, and its size in bytes.
type Message struct {
	Request types.SendMessageBatchRequestEntry
	Size    int
}

// group is the message group; empty if there is none.
func (m *Message) group() string { return aws.ToString(m.Request.MessageGroupId) }

// Size returns what an attribute counts towards the size of its message: name, type and
// value, as the SQS developer guide says under "message metadata".
func Size(name string, v types.MessageAttributeValue) int {
	return len(name) + len(aws.ToString(v.DataType)) + len(aws.ToString(v.StringValue)) + len(v.BinaryValue)
}

// Legal reports whether SQS accepts r in a body or an attribute: the characters of XML
// 1.0, as the reference of SendMessage lists them.
func Legal(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return true
	case r < ' ':
		return false
	default:
		return r <= 0xD7FF || 0xE000 <= r && r <= 0xFFFD || 0x10000 <= r && r <= utf8.MaxRune
	}
}

// Packs divides the messages, in order, into as few calls as possible, and returns the
// positions for each call. A message that is too large has a call of its own, so that its
// error affects no other. With apart no call has two messages of one message group: SQS
// may take the second of them and refuse the first.
func Packs(messages []Message, apart bool) [][]int {
	var out [][]int
	size, groups := 0, map[string]bool{}
	for i, m := range messages {
		last := len(out) - 1
		full := last < 0 || size+m.Size > MaxBytes || len(out[last]) == sqscall.MaxEntries
		if full || apart && groups[m.group()] {
			out = append(out, nil)
			last++
			size, groups = 0, map[string]bool{}
		}
		out[last] = append(out[last], i)
		size += m.Size
		groups[m.group()] = true
	}
	return out
}
