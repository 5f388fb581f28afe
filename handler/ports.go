package handler

import (
	"context"
	"time"
)

// Letter is a message on its way to the dead-letter queue.
type Letter struct {
	Message *Message
	Failure Failure
}

// Sent is the answer for one Letter.
type Sent struct {
	// MessageID is the id that the dead-letter queue gave; empty if Err is set. An
	// answer without either counts as [ErrUnanswered].
	MessageID string
	Err       error
}

// DeadLetter takes dead jobs. It must be safe for concurrent use.
type DeadLetter interface {
	// Send sends the letters and answers for each, in their order. A letter
	// whose arrival is not confirmed has an error.
	Send(ctx context.Context, letters []Letter) []Sent
}

// VisibilityChange hides a message for a time from now on.
type VisibilityChange struct {
	Message *Message
	// Timeout is in whole seconds, from 0 to 12 hours.
	Timeout time.Duration
}

// Queue is the queue that the batch came from. It must be safe for
// concurrent use.
type Queue interface {
	// ChangeVisibility applies the changes and answers for each, in their order.
	ChangeVisibility(ctx context.Context, changes []VisibilityChange) []error
	// Delete acknowledges the messages and answers for each, in their order.
	Delete(ctx context.Context, messages []*Message) []error
}
