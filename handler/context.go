package handler

import "context"

type runKey struct{}

// Value implements [context.Context]: a run is the context of its own user code.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// runOf is the run that ctx belongs to; nil outside of one.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// FromContext is the message that the handler with this context works on; nil
// outside of one. It is not to be changed.
func FromContext(ctx context.Context) *Message {
	if r := runOf(ctx); r != nil {
		return r.message
	}
	return nil
}

// endReason is why nothing may start under a context that has ended; empty if it
// has not.
func endReason(ctx context.Context) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return ReasonNoTime
	default:
		return ReasonCancelled
	}
}
