// Package host is what a host of a processor tells it by its context.
package host

import "context"

type (
	drainingKey struct{}
	exitKey     struct{}
)

// WithExit returns a context under which a processor ends its process by exit where
// that outlives a crash. Without one it panics.
func WithExit(ctx context.Context, exit func()) context.Context {
	return context.WithValue(ctx, exitKey{}, exit)
}

// Exit is what ends the process; nil if nobody says.
func Exit(ctx context.Context) func() {
	exit, _ := ctx.Value(exitKey{}).(func())
	return exit
}

// WithDraining returns a context under which a processor starts no more jobs once
// draining is closed. Jobs that run by then go on until the context itself ends.
func WithDraining(ctx context.Context, draining <-chan struct{}) context.Context {
	return context.WithValue(ctx, drainingKey{}, draining)
}

// Draining is closed when no more jobs are to start; nil if nobody says.
func Draining(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainingKey{}).(<-chan struct{})
	return draining
}

type endedKey struct{}

// WithEnded returns a context under which a processor calls ended for each message of
// the batch once it has its outcome, while others may still run. It must not block.
func WithEnded(ctx context.Context, ended func()) context.Context {
	return context.WithValue(ctx, endedKey{}, ended)
}

// Ended is to be called for each message that has its outcome; it does nothing if nobody
// wants to know.
func Ended(ctx context.Context) func() {
	if ended, ok := ctx.Value(endedKey{}).(func()); ok {
		return ended
	}
	return func() {}
}
