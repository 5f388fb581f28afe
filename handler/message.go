package handler

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Message is one record of a batch, with the state of its job. It may be copied.
type Message struct {
	events.SQSMessage

	// Job is the state of the job in the ledger; zero without a ledger.
	Job Job
	// Replay is the dead-letter record that a replayed message carries; nil on a message
	// that was never dead-lettered.
	Replay *Replay

	// unwrapped, content and enclosed are what an envelope holds.
	unwrapped bool
	content   string
	enclosed  map[string]string

	limits   limits
	received time.Time
	// claimed reports whether Job is what the ledger has. Before the claim nothing is known
	// of the job.
	claimed bool
}

// Job is the state of a job over its deliveries. The ledger sets it before the user's
// function runs, and stores the Job of the [Result] afterwards.
type Job struct {
	// Key is the idempotency key as the user's function passes it on.
	Key string
	// Epoch is how often the job was started again after its death, from 0.
	Epoch int
	// Attempts is the number of failures that used up budget.
	Attempts int
	// Unclassified is the number of those with an error that no rule knew.
	Unclassified int
	// Crashes is the number of runs in a row that crashed the process.
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
	// Verdict reports whether the ledger holds the verdict; without it Epoch has no
	// meaning.
	Verdict bool
	// MessageID is the id that the message had when it was first sent.
	MessageID string
	// SenderID is who sent it first, as SQS said: the id of an IAM user or role, or the
	// address of an anonymous caller; empty if the record does not say.
	SenderID string
	// Trace is the span of the run that ended the job, or of the dead letter if it was no
	// run, as a W3C traceparent; empty if the record does not say.
	Trace string
}

// ReceiveCount returns how often SQS has delivered the message, this time included; 1 if
// SQS did not say.
func (m *Message) ReceiveCount() int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// GroupID returns the message group; empty if none was set. Messages of standard queues
// may have one too.
func (m *Message) GroupID() string { return m.Attributes["MessageGroupId"] }

// SentAt returns when the message entered its queue; zero if SQS did not say.
func (m *Message) SentAt() time.Time {
	ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// FIFO reports whether the message comes from a FIFO queue. It depends on the queue's
// ARN, not on the message group, since standard queues have groups too.
func (m *Message) FIFO() bool { return strings.HasSuffix(m.EventSourceARN, ".fifo") }

// QueueName returns the last part of the source queue's ARN.
func (m *Message) QueueName() string { return queueName(m.EventSourceARN) }

// queueName returns the last part of a queue's ARN.
func queueName(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// LastAttempt reports whether the job is dead if this run fails with an error that uses
// up budget: the budget of Options.Backoff has one run left, or this is the last receive.
// Profiles by reason may end a job earlier or later. Before the claim, as in Prepare or the
// key function, only the last receive counts, since an error uses no budget there. Without
// a ledger each receive counts as a run. It is false outside of a processor.
func (m *Message) LastAttempt() bool {
	return m.limits != nil && m.limits.isLastAttempt(m)
}

// limits reports how often a job may run; nil for a message outside of a processor.
type limits interface{ isLastAttempt(m *Message) bool }

// Content returns the payload that decoders read: the body, or the content that
// [Message.Unwrap] has set. The dead-letter queue gets the body.
func (m *Message) Content() string {
	if m.unwrapped {
		return m.content
	}
	return m.Body
}

// Unwrap sets the content of a message with an envelope in its body, and the attributes
// that the envelope carries. A Prepare that knows the envelope calls it, so that
// decoding, key and payload hash use the content. For nested envelopes the attributes of
// both are kept; those of the inner one come first.
func (m *Message) Unwrap(content string, attributes map[string]string) {
	m.unwrapped, m.content = true, content
	if m.enclosed == nil {
		m.enclosed = make(map[string]string, len(attributes))
	}
	maps.Copy(m.enclosed, attributes)
}

// Attribute returns the text of a message attribute of type String or Number. The
// message's own attributes come before those of its envelope. ok is false if there is
// none.
func (m *Message) Attribute(name string) (text string, ok bool) {
	if a, found := m.MessageAttributes[name]; found && a.StringValue != nil {
		return *a.StringValue, true
	}
	text, ok = m.enclosed[name]
	return text, ok
}

// asReceived restores the fields that hiding, deleting and dead-lettering need, in case
// user code has changed them.
func (m *Message) asReceived(record *events.SQSMessage) {
	if m.MessageId == record.MessageId && m.ReceiptHandle == record.ReceiptHandle &&
		m.EventSourceARN == record.EventSourceARN && m.Body == record.Body {
		return // a ledger may be reading it
	}
	m.MessageId, m.ReceiptHandle, m.EventSourceARN = record.MessageId, record.ReceiptHandle, record.EventSourceARN
	m.Body = record.Body
}

// Attempt returns the number of the job's current run, from 1. The failed and crashed runs
// that the ledger knows count; without a ledger, and before the claim, it is 1.
func (m *Message) Attempt() int { return m.Job.History.Len() + m.Job.Crashes + 1 }

// age returns how long ago the message was received.
func (m *Message) age() time.Duration {
	if m.received.IsZero() {
		return 0
	}
	return time.Since(m.received)
}
