package handler

import (
	"context"
	"fmt"
	"slices"
)

// Func handles one message. A nil error says that the job is done; any other
// is turned into a [Result]. A Func must be safe for concurrent use.
type Func func(ctx context.Context, m *Message) error

// Middleware wraps a Func.
type Middleware func(next Func) Func

// Chain joins middleware into one. The first is the outermost: it sees the
// message first and the error last. Nil entries are skipped; one that makes
// nothing of the Func that it wraps is a mistake, and the chain panics when it is
// put around a Func.
func Chain(middleware ...Middleware) Middleware {
	return func(next Func) Func {
		for i, m := range slices.Backward(middleware) {
			if m == nil {
				continue
			}
			if next = m(next); next == nil {
				panic(fmt.Sprintf("handler.Chain: middleware %d of %d returned a nil Func; "+
					"have it return a Func that calls next", i+1, len(middleware)))
			}
		}
		return next
	}
}

// Handler is a job in two stages. [Func] and the value that [JSON] returns are
// Handlers. Both stages must be safe for concurrent use.
type Handler interface {
	// Prepare decodes and validates the message before anything is claimed for
	// it. An error is permanent.
	Prepare(ctx context.Context, m *Message) error
	// Handle does the work.
	Handle(ctx context.Context, m *Message) error
}

// Prepare accepts every message.
func (f Func) Prepare(context.Context, *Message) error { return nil }

// Handle calls f.
func (f Func) Handle(ctx context.Context, m *Message) error { return f(ctx, m) }
