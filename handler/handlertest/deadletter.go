package handlertest

import (
	"context"
	"slices"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
)

// DeadLetterQueue is a handler.DeadLetter that keeps its letters in memory. The
// zero value works, and it is safe for concurrent use.
type DeadLetterQueue struct {
	// Fail is asked about each letter: one that it has an error for does not
	// arrive. Nil lets all arrive.
	Fail func(letter handler.Letter) error

	mu      sync.Mutex
	letters []handler.Letter
}

// Send implements handler.DeadLetter. The id of a letter is "dead-" and that of
// the message.
func (q *DeadLetterQueue) Send(_ context.Context, letters []handler.Letter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range letters {
		letter := &letters[i]
		if q.Fail != nil {
			letter.Err = q.Fail(*letter)
		}
		if letter.Err == nil {
			letter.DeadLetterID = "dead-" + letter.Message.MessageId
			q.letters = append(q.letters, *letter)
		}
	}
}

// Letters are those that have arrived, in their order.
func (q *DeadLetterQueue) Letters() []handler.Letter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.letters)
}
