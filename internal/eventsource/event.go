package eventsource

import "time"

// Kind says what an [Event] reports.
type Kind string

// The kinds of events.
const (
	// Received: a batch was received.
	Received Kind = "received"
	// Filtered: the messages match no filter; they are deleted without an
	// invocation.
	Filtered Kind = "filtered"
	// Invoked: the function is invoked with a batch, or with a part of one
	// whose event would be too large.
	Invoked Kind = "invoked"
	// Deleted: messages were deleted.
	Deleted Kind = "deleted"
	// Reported: the function reported messages as failed; they stay in the
	// queue.
	Reported Kind = "reported"
	// Ignored: the function reported messages as failed, and the mapping does not
	// have ReportBatchItemFailures: they are deleted.
	Ignored Kind = "ignored"
	// Failed: the invocation failed; its messages stay in the queue.
	Failed Kind = "failed"
	// Malformed: the response breaks the rules of partial batch responses; all
	// messages of the invocation stay in the queue.
	Malformed Kind = "malformed"
	// Unnamed: the response has members, but no batchItemFailures. That counts
	// as success.
	Unnamed Kind = "unnamed"
	// Withheld: messages were not passed to the function, because an earlier
	// part of their FIFO batch failed.
	Withheld Kind = "withheld"
	// DeleteFailed: messages could not be deleted and will be delivered again.
	DeleteFailed Kind = "delete_failed"
	// ReceiveFailed: a receive failed; the next one follows after Pause.
	ReceiveFailed Kind = "receive_failed"
)

// Event describes something that happened to a batch.
type Event struct {
	Kind Kind
	Time time.Time
	// QueueARN is the ARN of the mapping's queue.
	QueueARN string
	// Messages are the messages that the event is about.
	Messages []Message
	// Err is the cause of Failed, DeleteFailed and ReceiveFailed.
	Err error
	// Reason says what is wrong with a Malformed or Unnamed response, or why
	// messages were Filtered.
	Reason string
	// Pause is the wait time after ReceiveFailed.
	Pause time.Duration
}

// Message identifies one delivery of a message.
type Message struct {
	ID string
	// GroupID is the message group; empty if the message has none.
	GroupID string
	// ReceiveCount is how often the message has been received, from 1; 0 if the
	// queue does not report it.
	ReceiveCount int
}
