package idem

import "context"

// Forget deletes an item, as a TTL does.
func (s *Memory) Forget(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, id)
	return nil
}

// RecordedName is the name under which a step is recorded.
var RecordedName = recordedName
