package handlertest

import (
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// Message describes an SQS message. All fields may stay empty.
type Message struct {
	Body string
	// ID is the message id; empty means m1, m2 and so on, by the message's place
	// among others.
	ID string
	// Queue is the name of its queue; empty means that of the [Queue] it is given
	// to, or else "jobs". A name that ends in .fifo is that of a FIFO queue.
	Queue string
	// Group is the message group. Messages of standard queues may have one too; in
	// a FIFO queue empty means "default", as there is none without.
	Group string
	// Receives is how often SQS has handed it out, with the (first) delivery of
	// the test; 0 means 1.
	Receives int
	// Sent is when it entered its queue; zero means now.
	Sent time.Time
	// Attributes are its message attributes. A string makes one of type String, a
	// []byte Binary, an int, int64 or float64 Number, and an
	// events.SQSMessageAttribute is what it says. Other values panic.
	Attributes map[string]any
	// Replay makes it a message that was dead-lettered before: it carries a record
	// that says so. See [Replayed].
	Replay *handler.Replay

	// After is how long after the begin of [Queue.Run] it is sent; 0 means at once.
	After time.Duration
	// Copies are further deliveries in [Queue.Run], which SQS may make of any
	// message: each has the same id and comes that long after it was sent.
	Copies []time.Duration
}

const (
	defaultID    = "m1"
	defaultQueue = "jobs"
	arnOfQueues  = "arn:aws:sqs:eu-west-1:123456789012:"
)

// Record is the message as it stands in an event.
func (m Message) Record() events.SQSMessage {
	m = m.withDefaults(defaultID, defaultQueue)
	r := events.SQSMessage{
		MessageId:         m.ID,
		ReceiptHandle:     "receipt-" + m.ID,
		Body:              m.Body,
		Attributes:        m.systemAttributes(),
		MessageAttributes: m.messageAttributes(),
		EventSource:       "aws:sqs",
		EventSourceARN:    arnOfQueues + m.Queue,
		AWSRegion:         "eu-west-1",
	}
	return r
}

// Received is the message as a handler.Func or a middleware gets it.
func (m Message) Received() *handler.Message {
	received := &handler.Message{SQSMessage: m.Record()}
	restore(received)
	return received
}

// Event is the event that Lambda makes of the messages.
func Event(messages ...Message) events.SQSEvent {
	event := events.SQSEvent{Records: []events.SQSMessage{}}
	for i, m := range messages {
		event.Records = append(event.Records, m.withDefaults(numbered(i), defaultQueue).Record())
	}
	return event
}

func numbered(i int) string { return "m" + strconv.Itoa(i+1) }

func (m Message) withDefaults(id, queue string) Message {
	if m.ID == "" {
		m.ID = id
	}
	if m.Queue == "" {
		m.Queue = queue
	}
	if m.Group == "" && m.fifo() {
		m.Group = "default"
	}
	if m.Receives == 0 {
		m.Receives = 1
	}
	if m.Sent.IsZero() {
		m.Sent = time.Now()
	}
	return m
}

func (m Message) fifo() bool { return strings.HasSuffix(m.Queue, ".fifo") }

func (m Message) systemAttributes() map[string]string {
	sent := strconv.FormatInt(m.Sent.UnixMilli(), 10)
	attributes := map[string]string{
		"ApproximateReceiveCount":          strconv.Itoa(m.Receives),
		"ApproximateFirstReceiveTimestamp": sent,
		"SentTimestamp":                    sent,
		"SenderId":                         "AIDAEXAMPLE",
	}
	if m.Group != "" {
		attributes["MessageGroupId"] = m.Group
	}
	if m.fifo() {
		attributes["MessageDeduplicationId"] = m.ID
	}
	return attributes
}
