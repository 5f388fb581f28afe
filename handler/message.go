package handler

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Message is one record of a batch, with what is known of its job. It may be
// copied.
type Message struct {
	events.SQSMessage

	// Job is what the ledger knows of the job; zero without a ledger.
	Job Job
	// Replay is what a dead-letter record said that the message carried when it
	// came; nil on a message that was never dead-lettered.
	Replay *Replay

	// unwrapped, content and enclosed are what an envelope holds.
	unwrapped bool
	content   string
	enclosed  map[string]string

	limits   limits
	received time.Time
}

// Job is the state of a job over its deliveries. The ledger fills it in before the
// user's function runs, and stores the one of the [Result] afterwards.
type Job struct {
	// Key is the idempotency key as the user's function passes it on.
	Key string
	// Epoch counts how often the job began anew after a death, from 0.
	Epoch int
	// Attempts counts the failures that used up budget.
	Attempts int
	// Unclassified counts those of them whose class no rule knew.
	Unclassified int
	// Crashes counts the runs in a row that ended with the process.
	Crashes int
	// History has the failed runs.
	History History
}

// Replay is the part of a dead-letter record that a later delivery needs.
type Replay struct {
	// Key is the idempotency key of the dead-lettered job; empty if it had none.
	Key string
	// Epoch is the epoch in which the job died.
	Epoch int
	// Verdict reports whether the ledger holds the death; without it Epoch means
	// nothing.
	Verdict bool
	// MessageID is the id that the message had when it was first sent.
	MessageID string
}

// ReceiveCount is how often SQS has handed the message out, this time included; 1
// where SQS did not say.
func (m *Message) ReceiveCount() int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// GroupID is the message group; empty where none was set. Messages of standard
// queues may have one too.
func (m *Message) GroupID() string { return m.Attributes["MessageGroupId"] }

// SentAt is when the message entered its queue; zero where SQS did not say.
func (m *Message) SentAt() time.Time {
	ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// FIFO reports whether the message comes from a FIFO queue. The queue's ARN says
// so, not the message group, since standard queues have groups too.
func (m *Message) FIFO() bool { return strings.HasSuffix(m.EventSourceARN, ".fifo") }

// QueueName is the last part of the source queue's ARN.
func (m *Message) QueueName() string { return QueueName(m.EventSourceARN) }

// QueueName is the last part of a queue's ARN.
func QueueName(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// LastAttempt reports whether the job is dead if this run fails with an error that
// uses up budget: the budget of Options.Backoff has one run left, or the queue no
// further receive. Profiles by reason may end a job earlier or later. It is false outside
// of a processor.
func (m *Message) LastAttempt() bool {
	return m.limits != nil && m.limits.isLastAttempt(m)
}

// limits says how often a job may run; nil for a message outside of a processor.
type limits interface{ isLastAttempt(m *Message) bool }

// Content is what decoders read: the body, or what [Message.Unwrap] has found in
// it. What goes to the dead-letter queue is the body.
func (m *Message) Content() string {
	if m.unwrapped {
		return m.content
	}
	return m.Body
}

// Unwrap sets the content of a message whose body is an envelope around it, and
// the attributes that the envelope carries. A Prepare that knows the envelope
// calls it, so that decoding, key and payload hash are those of the content. For
// an envelope in another, the attributes of both are kept; the inner one's count
// first.
func (m *Message) Unwrap(content string, attributes map[string]string) {
	m.unwrapped, m.content = true, content
	if m.enclosed == nil {
		m.enclosed = make(map[string]string, len(attributes))
	}
	maps.Copy(m.enclosed, attributes)
}

// Attribute is the text of a message attribute of type String or Number, be it
// the message's own or one that its envelope carries; the message's own counts
// first. ok is false where there is none.
func (m *Message) Attribute(name string) (text string, ok bool) {
	if a, found := m.MessageAttributes[name]; found && a.StringValue != nil {
		return *a.StringValue, true
	}
	text, ok = m.enclosed[name]
	return text, ok
}

// asReceived undoes what user code has changed of that by which the message is
// hidden, deleted and dead-lettered.
func (m *Message) asReceived(record *events.SQSMessage) {
	if m.MessageId == record.MessageId && m.ReceiptHandle == record.ReceiptHandle &&
		m.EventSourceARN == record.EventSourceARN && m.Body == record.Body {
		return // a ledger may be reading it
	}
	m.MessageId, m.ReceiptHandle, m.EventSourceARN = record.MessageId, record.ReceiptHandle, record.EventSourceARN
	m.Body = record.Body
}

// runNumber is the number of the job's present run, from 1: those that failed and
// those that crashed have come before it.
func (m *Message) runNumber() int { return m.Job.History.Len() + m.Job.Crashes + 1 }

// age is how long ago the message was received.
func (m *Message) age() time.Duration {
	if m.received.IsZero() {
		return 0
	}
	return time.Since(m.received)
}
