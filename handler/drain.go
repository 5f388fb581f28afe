package handler

import "context"

type drainKey struct{}

// WithDrain gives a context for [Processor.Handle] under which no more messages
// are started once draining is closed. What runs by then goes on: only the end
// of the context itself cuts it off.
func WithDrain(ctx context.Context, draining <-chan struct{}) context.Context {
	return context.WithValue(ctx, drainKey{}, draining)
}

// drain is closed when no more messages are to be started; nil if nobody says.
func drain(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainKey{}).(<-chan struct{})
	return draining
}

// closed tells whether c is; a nil c never is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
