package handlertest

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// longestCall is how long a handler may take that was left behind. In a bubble it
// costs no time.
const longestCall = 24 * time.Hour

// call is one that has not returned.
type call struct {
	id    string
	begun time.Time
}

func (s *simulation) called(m *handler.Message) *call {
	s.handlers.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{id: m.MessageId, begun: time.Now()}
	s.calls = append(s.calls, c)
	return c
}

func (s *simulation) returned(c *call) {
	defer s.handlers.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = slices.DeleteFunc(s.calls, func(other *call) bool { return other == c })
}

// failOverdue ends the test when a call takes too long. It is the oldest, since
// calls are kept in their order.
func (s *simulation) failOverdue() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 || time.Since(s.calls[0].begun) < longestCall {
		return
	}
	s.t.Fatalf("handlertest.Queue: job %s did not return from its handler in %v of the bubble's time: "+
		"a handler has to return soon after its context has ended, so let it wait for ctx.Done() too",
		s.calls[0].id, longestCall)
}

// awaitHandlers waits for the calls that were left behind.
func (s *simulation) awaitHandlers() {
	s.t.Helper()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		s.handlers.Wait()
	}()
	select {
	case <-idle:
	case <-time.After(longestCall):
		s.failOverdue()
	}
}
