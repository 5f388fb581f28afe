package sqssend

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// What SQS accepts.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
const (
	// MaxDelay is the longest delay of a message.
	MaxDelay = 15 * time.Minute
	// MaxAttributes is how many attributes a message may have.
	MaxAttributes    = 10
	maxAttributeName = 256
)

var (
	legalName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reserved  = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
)

// legalID reports whether SQS takes a text as a message group id or a deduplication id: up to
// 128 visible characters of ASCII. An empty text means that there is none.
func legalID(text string) bool {
	return len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}

// Queue is what is known of the queue that a message is sent to.
type Queue struct {
	// Name is the queue's name in errors.
	Name string
	URL  string
	FIFO bool
	// WantsDedup says that each message needs a deduplication id: the queue is FIFO, has
	// no ContentBasedDeduplication, and nobody makes ids.
	WantsDedup bool
	// MaxBytes is the queue's MaximumMessageSize; 0 means that of SQS, 1 MiB.
	MaxBytes int
}

func (q Queue) maxBytes() int {
	if q.MaxBytes > 0 {
		return q.MaxBytes
	}
	return MaxBytes
}

// limiting is whose limit maxBytes is.
func (q Queue) limiting() string {
	if q.MaxBytes > 0 && q.MaxBytes < MaxBytes {
		return "queue " + q.Name
	}
	return "SQS"
}

// Draft is a message that a producer wants to send.
type Draft struct {
	Queue Queue
	// Body is sent unchanged.
	Body       string
	Attributes map[string]types.MessageAttributeValue
	// Trace is the X-Ray trace header; empty for none. It does not count for the size.
	Trace string
	// Group is the message group id, Dedup the deduplication id; empty for none.
	Group, Dedup string
	// Delay is the time before the message is visible: 0 to MaxDelay, in whole seconds.
	Delay time.Duration
	// Member returns the user's name for a member of the job, "group", "dedup" or "delay".
	// It must not be nil.
	Member func(name string) string
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

// Size returns the bytes of body and attributes, which SQS counts for the limits of a
// message and of a call.
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
	// Limiting is whose limit that is: SQS, or the queue.
	Limiting string
}

// Error has both numbers.
func (e *SizeError) Error() string {
	return fmt.Sprintf("body and attributes have %d bytes; %s takes up to %d", e.Bytes, e.Limiting, e.Most)
}

// Large reports whether the message has more bytes than its queue takes.
func (d *Draft) Large() bool { return d.Size() > d.Queue.maxBytes() }

// Check returns an error if SQS would refuse the message: a [*SizeError] if it is too
// large.
func (d *Draft) Check() error {
	switch {
	case d.Body == "":
		return errors.New("the body is empty; SQS takes messages of at least one character")
	case d.Large():
		return &SizeError{d.Size(), d.Queue.maxBytes(), d.Queue.limiting()}
	case d.Delay < 0 || d.Delay > MaxDelay:
		return fmt.Errorf("%s is %d; SQS takes 0 to %d seconds",
			d.Member("delay"), int(d.Delay.Seconds()), int(MaxDelay.Seconds()))
	}
	if err := legalText(d.Body); err != nil {
		return fmt.Errorf("the body %w", err)
	}
	if err := checkAttributes(d.Attributes); err != nil {
		return err
	}
	for _, id := range [...]struct{ name, value string }{{"group", d.Group}, {"dedup", d.Dedup}} {
		if !legalID(id.value) {
			return fmt.Errorf("%s is %.200q; SQS takes up to 128 letters, digits and punctuation marks, without spaces",
				d.Member(id.name), id.value)
		}
	}
	return d.checkQueue()
}

func checkAttributes(attributes map[string]types.MessageAttributeValue) error {
	if len(attributes) > MaxAttributes {
		return fmt.Errorf("it has %d attributes; SQS takes up to %d", len(attributes), MaxAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := aws.ToString(attributes[name].StringValue)
		switch {
		case name == "" || value == "":
			return fmt.Errorf("attribute %q is %q; SQS wants a name and a value", name, value)
		case len(name) > maxAttributeName:
			return fmt.Errorf("attribute %.20s… has a name of %d bytes; SQS takes up to %d", name, len(name), maxAttributeName)
		case reserved.MatchString(name):
			return fmt.Errorf("attribute %q: names that begin with AWS. or Amazon. are reserved; choose another", name)
		case !legalName.MatchString(name):
			return fmt.Errorf("attribute %q: SQS takes names of letters, digits, _ and -, with single periods between them",
				name)
		}
		if err := legalText(value); err != nil {
			return fmt.Errorf("attribute %s %w", name, err)
		}
	}
	return nil
}

func (d *Draft) checkQueue() error {
	switch q := d.Queue; {
	case q.FIFO && d.Group == "":
		return fmt.Errorf("queue %s is FIFO; give the job a %s", q.Name, d.Member("group"))
	case q.FIFO && d.Delay > 0:
		return fmt.Errorf("queue %s is FIFO; a %s can be set for the whole queue only", q.Name, d.Member("delay"))
	case !q.FIFO && d.Dedup != "":
		return fmt.Errorf("queue %s is not FIFO; leave %s out", q.Name, d.Member("dedup"))
	case q.WantsDedup && d.Dedup == "":
		return fmt.Errorf("queue %s has no ContentBasedDeduplication; give the job a %s", q.Name, d.Member("dedup"))
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
