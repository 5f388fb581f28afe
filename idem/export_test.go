package idem

import (
	"context"
	"testing"
)

// Forget deletes an item, as a TTL does.
func (s *Memory) Forget(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, id)
	return nil
}

// Document gives the rows of the table of docs/ledger.md with these first columns.
func Document(t *testing.T, columns ...string) [][]string {
	t.Helper()
	_, rows := document(t, columns...)
	return rows
}

// RecordedName is the name under which a step is recorded.
var RecordedName = recordedName
