package handler

import (
	"context"
	"errors"
	"time"
)

// The queues answer in place: a call gets a slice of requests and sets the answer in
// each. A request without an answer counts as failed.

// ErrUnanswered is the answer for a request that the queue did not answer. It is unknown
// whether the request was carried out.
var ErrUnanswered = errors.New("the queue did not answer for this message")

// Letter is a message on its way to the dead-letter queue, with the answer.
type Letter struct {
	Message *Message
	Failure Failure

	// DeadLetterID is the message id in the dead-letter queue. It confirms that the
	// letter has arrived; empty if it may not have.
	DeadLetterID string
	// Err is why the letter did not arrive, or may not have.
	Err error
}

// Answer returns nil if the letter has arrived for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither DeadLetterID nor Err is set.
func (l *Letter) Answer() error { return answer(l.DeadLetterID != "", l.Err) }

// DeadLetter takes dead jobs. It must be safe for concurrent use.
type DeadLetter interface {
	// Send sends the letters and sets DeadLetterID or Err of each element. A letter with
	// neither is not confirmed: its message stays in its queue, and a later delivery
	// sends it again. Send must not access the slice after it has returned. A caller that
	// stops waiting must not read the answers.
	Send(ctx context.Context, letters []Letter)
}

// VisibilityChange is a request to hide a message for a time from now on, with the
// answer.
type VisibilityChange struct {
	Message *Message
	// Timeout is in whole seconds, from 0 to 12 hours.
	Timeout time.Duration

	// Done reports whether the timeout was changed.
	Done bool
	// Err says why it was not, or may not have been.
	Err error
}

// Answer returns nil if the timeout was changed for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither Done nor Err is set.
func (c *VisibilityChange) Answer() error { return answer(c.Done, c.Err) }

// Deletion is a request to delete a message from its queue, with the answer.
type Deletion struct {
	Message *Message

	// Done reports whether the message was deleted.
	Done bool
	// Err says why it was not, or may not have been.
	Err error
}

// Answer returns nil if the message was deleted for certain. Otherwise it returns
// Err, or [ErrUnanswered] if neither Done nor Err is set.
func (d *Deletion) Answer() error { return answer(d.Done, d.Err) }

// Queue is the source queue of a batch. It must be safe for concurrent use. For both
// methods the rules of [DeadLetter].Send on the slice apply.
type Queue interface {
	// ChangeVisibility applies the changes and sets Done or Err of each element.
	ChangeVisibility(ctx context.Context, changes []VisibilityChange)
	// Delete acknowledges the messages and sets Done or Err of each element.
	Delete(ctx context.Context, deletions []Deletion)
}

// answer returns the error of an answer. An error counts more than a confirmation:
// handling a message twice is better than losing it.
func answer(confirmed bool, err error) error {
	if err == nil && !confirmed {
		return ErrUnanswered
	}
	return err
}
