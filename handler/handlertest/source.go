package handlertest

import (
	"context"
	"slices"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
)

// Source is a handler.Source that remembers what it was asked for. The zero value
// is ready for use, and it is safe for concurrent use.
type Source struct {
	// FailChange is asked about each change of a visibility timeout, and
	// FailDelete about each message to delete: what they have an error for is not
	// done. Nil lets all be done.
	FailChange func(change handler.VisibilityChange) error
	FailDelete func(m *handler.Message) error

	mu      sync.Mutex
	changes []handler.VisibilityChange
	deleted []*handler.Message
}

// ChangeVisibility implements handler.Source.
func (s *Source) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs, done := each(changes, s.FailChange)
	s.changes = append(s.changes, done...)
	return errs
}

// Delete implements handler.Source.
func (s *Source) Delete(_ context.Context, messages []*handler.Message) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs, done := each(messages, s.FailDelete)
	s.deleted = append(s.deleted, done...)
	return errs
}

// Changes are the visibility timeouts that were changed, in their order.
func (s *Source) Changes() []handler.VisibilityChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.changes)
}

// Deleted are the messages that were deleted, in their order.
func (s *Source) Deleted() []*handler.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deleted)
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
