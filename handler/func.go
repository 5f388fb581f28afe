package handler

import "context"

// Func handles one message. A nil error says that the job is done; any other is
// classified and becomes a [Result]. A Func must be safe for concurrent use.
type Func func(ctx context.Context, m *Message) error

// Prepare accepts every message.
func (f Func) Prepare(_ context.Context, m *Message) (func(context.Context) error, error) {
	return func(ctx context.Context) error { return f(ctx, m) }, nil
}

// Handler makes the work of a message. [Func] and the value that [JSON] returns
// are Handlers. It must be safe for concurrent use.
type Handler interface {
	// Prepare decodes and validates the message, before anything is claimed for
	// it, and returns the work, which runs at most once. An error is permanent,
	// unless a rule of the classifier says that it is retryable.
	Prepare(ctx context.Context, m *Message) (work func(ctx context.Context) error, err error)
}

// Middleware wraps the run of a job: after decoding and after the claim, and
// before the outcome is written. The error of the user's function reaches it
// classified, as a [Result]. It must pass on its context, or one made of it. It may
// call next on a goroutine of its own; the run lasts until both have returned, and
// next refuses a call after that.
//
// Middleware that returns nil without having called next gives the message up: it
// is acknowledged and counted as dropped. To leave a message to a later receive it
// returns [Defer].
type Middleware func(next Func) Func
