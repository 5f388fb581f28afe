package handler

import "context"

// Func handles one message. A nil error means that the job is done. Any other error is
// classified and becomes a [Result]. A Func must be safe for concurrent use.
type Func func(ctx context.Context, m *Message) error

// Prepare accepts every message.
func (f Func) Prepare(_ context.Context, m *Message) (func(context.Context) error, error) {
	return func(ctx context.Context) error { return f(ctx, m) }, nil
}

// Handler prepares the work for a message. [Func] and the value that [JSON] returns are
// Handlers. A Handler must be safe for concurrent use.
type Handler interface {
	// Prepare decodes and validates the message, before the job is claimed, and returns
	// the work, which runs at most once. An error is permanent, unless a rule of the
	// classifier says that it is retryable. In a FIFO group a message that it refuses before
	// the one before is recorded is prepared again in its turn, as it was received.
	Prepare(ctx context.Context, m *Message) (work func(ctx context.Context) error, err error)
}

// Middleware wraps the run of a job: after decoding and claiming, and before the outcome
// is written. The error of the user's function reaches it classified, as a [Result]. It
// must pass its context, or one derived from it, to next. It may call next on another
// goroutine. The run lasts until both have returned; after that, next returns an error.
//
// If middleware returns nil without calling next, the message is acknowledged and counted
// as dropped. To leave a message to a later receive, return [Defer].
type Middleware func(next Func) Func
