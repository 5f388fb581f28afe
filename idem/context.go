package idem

import "context"

type keyKey struct{}

// Key returns the idempotency key of the job of ctx, the same at every attempt and
// replay; empty without a [Ledger]. Pass it on to every receiver that takes such a key.
func Key(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// jobContext is the context of a run. One value in place of one for each key is a tenth of
// what a job costs without round trips.
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
