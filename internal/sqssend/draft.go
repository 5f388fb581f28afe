package sqssend

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Limits of SQS (SQS quotas).
const (
	// MaxDelay is the longest delay of a message.
	MaxDelay = 15 * time.Minute
	// MaxAttributes is how many attributes a message may have.
	MaxAttributes = 10
	// maxID is how many characters a message group id or a deduplication id may have.
	maxID = 128
)

// Draft is a message that a producer wants to send.
type Draft struct {
	// Queue is the queue's name in errors; FIFO says that it is a FIFO queue.
	Queue string
	FIFO  bool
	// Body is sent unchanged.
	Body       string
	Attributes map[string]types.MessageAttributeValue
	// Trace is the X-Ray trace header; empty for none. It does not count for the size.
	Trace string
	// Group is the message group id, Dedup the deduplication id.
	Group, Dedup string
	Delay        time.Duration
}

// Text returns an attribute of type String.
func Text(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
}

// Texts returns attributes of type String; nil for none.
func Texts(values map[string]string) map[string]types.MessageAttributeValue {
	if len(values) == 0 {
		return nil
	}
	attributes := make(map[string]types.MessageAttributeValue, len(values))
	for name, value := range values {
		attributes[name] = Text(value)
	}
	return attributes
}

// Size returns how many bytes the draft adds to a message, or to a batch call.
func (d *Draft) Size() int {
	n := len(d.Body)
	for name, value := range d.Attributes {
		n += Size(name, value)
	}
	return n
}

// Message returns the draft as SQS takes it.
func (d *Draft) Message() Message {
	r := types.SendMessageBatchRequestEntry{
		MessageBody: &d.Body, MessageAttributes: d.Attributes, DelaySeconds: int32(d.Delay / time.Second),
	}
	if d.Group != "" {
		r.MessageGroupId = &d.Group
	}
	if d.Dedup != "" {
		r.MessageDeduplicationId = &d.Dedup
	}
	if d.Trace != "" {
		r.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {
				DataType: aws.String("String"), StringValue: &d.Trace,
			},
		}
	}
	return Message{Request: r, Size: d.Size()}
}

// SizeError says that a message is larger than its queue takes.
type SizeError struct {
	// Bytes is the size of body and attributes, Most the limit.
	Bytes, Most int
}

// Error has both numbers.
func (e *SizeError) Error() string {
	return fmt.Sprintf("body and attributes have %d bytes; SQS takes up to %d", e.Bytes, e.Most)
}

// Check returns an error if SQS would refuse the message: a [*SizeError] if it has more
// than most bytes.
func (d *Draft) Check(most int) error {
	switch size := d.Size(); {
	case d.Body == "":
		return errors.New("the body is empty; SQS takes messages of at least one character")
	case size > most:
		return &SizeError{size, most}
	case d.Delay < 0 || d.Delay > MaxDelay:
		return fmt.Errorf("the delay is %g s; SQS takes 0 to %d", d.Delay.Seconds(), int(MaxDelay.Seconds()))
	case len(d.Attributes) > MaxAttributes:
		return fmt.Errorf("there are %d attributes; SQS takes up to %d", len(d.Attributes), MaxAttributes)
	}
	if err := legalText(d.Body); err != nil {
		return fmt.Errorf("the body %w", err)
	}
	for name, value := range d.Attributes {
		if err := legalText(aws.ToString(value.StringValue)); err != nil {
			return fmt.Errorf("attribute %s %w", name, err)
		}
		if name == "" || aws.ToString(value.StringValue) == "" {
			return fmt.Errorf("attribute %q is %q; SQS wants a name and a value", name, aws.ToString(value.StringValue))
		}
	}
	return d.checkQueue()
}

func (d *Draft) checkQueue() error {
	switch {
	case d.FIFO && d.Group == "":
		return fmt.Errorf("queue %s is FIFO; give the job a group", d.Queue)
	case d.FIFO && d.Delay > 0:
		return fmt.Errorf("queue %s is FIFO; a delay can be set for the whole queue only", d.Queue)
	case !d.FIFO && d.Dedup != "":
		return fmt.Errorf("queue %s is not FIFO; leave the deduplication id out", d.Queue)
	}
	for what, id := range map[string]string{"group": d.Group, "deduplication id": d.Dedup} {
		if len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("the %s is %.200q; SQS takes up to %d letters, digits and punctuation marks", what, id, maxID)
		}
	}
	return nil
}

// legalText returns an error for characters that SQS does not accept.
func legalText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not UTF-8 text; encode it, for example as base64")
	}
	for i, r := range s {
		if !Legal(r) {
			return fmt.Errorf("has the character U+%04X at byte %d, which SQS does not take", r, i)
		}
	}
	return nil
}
