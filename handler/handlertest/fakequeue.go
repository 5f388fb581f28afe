package handlertest

import (
	"context"
	"slices"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
)

// FakeQueue is a handler.Queue that remembers what it was asked for. The zero value
// works, and it is safe for concurrent use.
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
func (q *FakeQueue) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range changes {
		change := &changes[i]
		if q.FailChange != nil {
			change.Err = q.FailChange(*change)
		}
		if change.Done = change.Err == nil; change.Done {
			q.changes = append(q.changes, *change)
		}
	}
}

// Delete implements handler.Queue.
func (q *FakeQueue) Delete(_ context.Context, deletions []handler.Deletion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range deletions {
		deletion := &deletions[i]
		if q.FailDelete != nil {
			deletion.Err = q.FailDelete(deletion.Message)
		}
		if deletion.Done = deletion.Err == nil; deletion.Done {
			q.deleted = append(q.deleted, deletion.Message)
		}
	}
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
