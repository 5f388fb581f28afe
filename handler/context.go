package handler

import (
	"context"
	"time"
)

type messageKey struct{}

func withMessage(ctx context.Context, m *Message) context.Context {
	return context.WithValue(ctx, messageKey{}, m)
}

// FromContext is the message that the handler with this context works on; nil
// outside of one. It is not to be changed.
func FromContext(ctx context.Context) *Message {
	m, _ := ctx.Value(messageKey{}).(*Message)
	return m
}

// cutOff is why nothing may be started under a context that has ended; empty if
// it has not.
func cutOff(ctx context.Context) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return ReasonNoTime
	default:
		return ReasonCancelled
	}
}

// jobContext is the context of all runs of a batch.
func (inv *invocation) jobContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithValue(ctx, invocationKey{}, inv)
	if !inv.bounded() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, inv.cut())
}

// settleTime bounds calls that settle where the invocation has no deadline.
const settleTime = 30 * time.Second

// settleContext is for calls that settle. It outlives the cancellation of the
// batch, since what was decided is to be written all the same, but ends in time
// to answer.
func (inv *invocation) settleContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if inv.bounded() {
		return inv.verdictContext(ctx)
	}
	return context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), invocationKey{}, inv), settleTime)
}

// verdictContext is for messages that are only taken to their verdict, for as
// long as the invocation lasts.
func (inv *invocation) verdictContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithValue(context.WithoutCancel(ctx), invocationKey{}, inv)
	if !inv.bounded() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, inv.settleEnd())
}

// sendContext ends earlier than the settle context, so that a dead-letter queue
// that does not answer leaves time for the rest, and before the claims lapse:
// lease is the first of them to do so, zero without any.
func (inv *invocation) sendContext(ctx context.Context, lease time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := inv.settleContext(ctx)
	var end time.Time
	if inv.bounded() {
		end = time.Now().Add(inv.reserve / 2)
		if last := inv.sendsEnd(); last.Before(end) {
			end = last
		}
	}
	if last := lease.Add(-ClockMargin); !lease.IsZero() && (end.IsZero() || last.Before(end)) {
		end = last
	}
	if end.IsZero() {
		return ctx, cancel
	}
	bounded, stop := context.WithDeadline(ctx, end)
	return bounded, func() { stop(); cancel() }
}
