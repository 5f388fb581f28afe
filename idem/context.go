package idem

import "context"

type keyKey struct{}

// Key returns the idempotency key of the job of ctx, the same at every attempt and
// replay; empty without a [Ledger]. Pass it on to every receiver that takes such a key.
func Key(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

func withKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}
