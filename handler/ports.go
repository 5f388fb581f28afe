package handler

import (
	"context"
	"errors"
	"time"
)

// The queues answer in place: a call gets a slice of requests and writes into
// each what became of it. Only a positive answer counts, so an answer that is
// missing cannot be taken for a success.

// ErrUnanswered is the answer for a request that a queue said nothing about.
// Whether it was carried out is not known.
var ErrUnanswered = errors.New("the queue did not answer for this message")

// Letter is a message on its way to the dead-letter queue, with the answer.
type Letter struct {
	Message *Message
	Failure Failure

	// DeadLetterID is the message id that the dead-letter queue gave. It confirms
	// that the letter has arrived; empty if it may not have.
	DeadLetterID string
	// Err says why the letter did not arrive, or may not have.
	Err error
}

// Answer returns nil if the letter has arrived for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither DeadLetterID nor Err is set.
func (l *Letter) Answer() error { return answer(l.DeadLetterID != "", l.Err) }

// DeadLetter takes dead jobs. It must be safe for concurrent use.
type DeadLetter interface {
	// Send sends the letters and sets DeadLetterID or Err of each element. A letter
	// with neither is not confirmed: its message stays in its queue, and a later
	// delivery sends it again. Send must not touch the slice after it has returned;
	// who gave up waiting for it must not read the answers.
	Send(ctx context.Context, letters []Letter)
}

// VisibilityChange hides a message for a time from now on, with the answer.
type VisibilityChange struct {
	Message *Message
	// Timeout is in whole seconds, from 0 to 12 hours.
	Timeout time.Duration

	// Done tells that the timeout was changed.
	Done bool
	// Err says why it was not, or may not have been.
	Err error
}

// Answer returns nil if the timeout was changed for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither Done nor Err is set.
func (c *VisibilityChange) Answer() error { return answer(c.Done, c.Err) }

// Deletion acknowledges a message, with the answer.
type Deletion struct {
	Message *Message

	// Done tells that the message was deleted.
	Done bool
	// Err says why it was not, or may not have been.
	Err error
}

// Answer returns nil if the message was deleted for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither Done nor Err is set.
func (d *Deletion) Answer() error { return answer(d.Done, d.Err) }

// Queue is the queue that the batch came from. It must be safe for concurrent
// use. For both methods holds what [DeadLetter].Send says of the slice.
type Queue interface {
	// ChangeVisibility applies the changes and sets Done or Err of each element.
	ChangeVisibility(ctx context.Context, changes []VisibilityChange)
	// Delete acknowledges the messages and sets Done or Err of each element.
	Delete(ctx context.Context, deletions []Deletion)
}

// answer reads an answer. An error outweighs a confirmation beside it: a message
// that is handled twice is better than one that is lost.
func answer(confirmed bool, err error) error {
	if err == nil && !confirmed {
		return ErrUnanswered
	}
	return err
}
