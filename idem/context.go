package idem

import "context"

type keyKey struct{}

// Key returns the idempotency key of the job of ctx, the same at every attempt and
// replay; empty without a [Ledger]. Pass it on to every receiver that takes such a key.
func Key(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// jobContext is the context of a run. It has all values of a job, since one context for each
// of them would cost a tenth of the time of a job that makes no round trips.
type jobContext struct {
	context.Context

	key, namespace string
	steps          *steps
	// completion is nil without a claim.
	completion *Completion
}

// Value implements [context.Context].
func (c *jobContext) Value(key any) any {
	switch key.(type) {
	case keyKey:
		return c.key
	case namespaceKey:
		return c.namespace
	case stepsKey:
		return c.steps
	case completionKey:
		return c.completion
	default:
		return c.Context.Value(key)
	}
}

func withKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}
