package handlertest

import (
	"context"
	"slices"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
)

// FakeQueue is a handler.Queue that remembers what it was asked for. The zero value
// is ready for use, and it is safe for concurrent use.
type FakeQueue struct {
	// FailChange is asked about each change of a visibility timeout, and
	// FailDelete about each message to delete: what they have an error for is not
	// done. Nil lets all be done.
	FailChange func(change handler.VisibilityChange) error
	FailDelete func(m *handler.Message) error

	mu      sync.Mutex
	changes []handler.VisibilityChange
	deleted []*handler.Message
}

// ChangeVisibility implements handler.Queue.
func (q *FakeQueue) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) []error {
	q.mu.Lock()
	defer q.mu.Unlock()
	errs, done := each(changes, q.FailChange)
	q.changes = append(q.changes, done...)
	return errs
}

// Delete implements handler.Queue.
func (q *FakeQueue) Delete(_ context.Context, messages []*handler.Message) []error {
	q.mu.Lock()
	defer q.mu.Unlock()
	errs, done := each(messages, q.FailDelete)
	q.deleted = append(q.deleted, done...)
	return errs
}

// Changes are the visibility timeouts that were changed, in their order.
func (q *FakeQueue) Changes() []handler.VisibilityChange {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.changes)
}

// Deleted are the messages that were deleted, in their order.
func (q *FakeQueue) Deleted() []*handler.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.deleted)
}

// each asks fail about every item, and gives the answers and what may be done.
func each[T any](items []T, fail func(T) error) (errs []error, done []T) {
	errs = make([]error, len(items))
	for i, item := range items {
		if fail != nil {
			errs[i] = fail(item)
		}
		if errs[i] == nil {
			done = append(done, item)
		}
	}
	return errs, done
}
