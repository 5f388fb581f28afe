package eventsource

import "time"

// Kind says what an [Event] tells of.
type Kind string

// The kinds of events.
const (
	// Received: a batch was gathered.
	Received Kind = "received"
	// Filtered: no filter matches the messages; they are deleted unseen by the
	// function.
	Filtered Kind = "filtered"
	// Invoked: the function is given a batch, or a part of one that is too large.
	Invoked Kind = "invoked"
	// Deleted: messages were deleted.
	Deleted Kind = "deleted"
	// Reported: the function named messages as failed; they stay in the queue.
	Reported Kind = "reported"
	// Failed: the invocation ended in an error; its messages stay in the queue.
	Failed Kind = "failed"
	// Malformed: the answer breaks the rules of partial batch responses; all
	// messages of the invocation stay in the queue.
	Malformed Kind = "malformed"
	// Unnamed: the answer has members, but no batchItemFailures, which counts as success.
	Unnamed Kind = "unnamed"
	// Withheld: messages were not given to the function, because an earlier
	// part of their FIFO batch failed.
	Withheld Kind = "withheld"
	// DeleteFailed: messages could not be deleted and will be delivered again.
	DeleteFailed Kind = "delete_failed"
	// ReceiveFailed: a receive failed; the next one comes after Pause.
	ReceiveFailed Kind = "receive_failed"
)

// Event is one thing that happened to a batch.
type Event struct {
	Kind Kind
	Time time.Time
	// QueueARN is the mapping's queue.
	QueueARN string
	// Messages are the messages concerned.
	Messages []Message
	// Err is the cause of Failed, DeleteFailed and ReceiveFailed.
	Err error
	// Reason says what is wrong with a Malformed or Unnamed answer, or why
	// messages were Filtered.
	Reason string
	// Pause is the wait after ReceiveFailed.
	Pause time.Duration
}

// Message names one delivery of a message.
type Message struct {
	ID string
	// GroupID is the message group; empty if the message has none.
	GroupID string
	// ReceiveCount is how often the message has been received, from 1; 0 if the
	// queue does not tell.
	ReceiveCount int
}
