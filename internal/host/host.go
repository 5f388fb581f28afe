// Package host passes settings from the host of a processor to the processor, in a
// context.
package host

import (
	"context"
	"math/rand/v2"
)

type (
	drainingKey struct{}
	exitKey     struct{}
)

// WithExit returns a context with the function that ends the process if it is still alive
// after a crash. Without one the processor panics.
func WithExit(ctx context.Context, exit func()) context.Context {
	return context.WithValue(ctx, exitKey{}, exit)
}

// Exit returns the function of WithExit; nil if there is none.
func Exit(ctx context.Context) func() {
	exit, _ := ctx.Value(exitKey{}).(func())
	return exit
}

// WithDraining returns a context with a channel. Once it is closed, the processor starts
// no more jobs. Running jobs go on until the context itself ends.
func WithDraining(ctx context.Context, draining <-chan struct{}) context.Context {
	return context.WithValue(ctx, drainingKey{}, draining)
}

// Draining returns the channel of WithDraining; nil if there is none.
func Draining(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainingKey{}).(<-chan struct{})
	return draining
}

type endedKey struct{}

// WithEnded returns a context with a function that the processor calls for each message
// that has its outcome, by the message's id, while other messages may still run. It must
// not block.
func WithEnded(ctx context.Context, ended func(messageID string)) context.Context {
	return context.WithValue(ctx, endedKey{}, ended)
}

// Ended returns the function of WithEnded, or one that does nothing.
func Ended(ctx context.Context) func(messageID string) {
	if ended, ok := ctx.Value(endedKey{}).(func(string)); ok {
		return ended
	}
	return func(string) {}
}

type randomKey struct{}

// WithRandom returns a context with the source of what is left to chance, such as the jitter
// of pauses: numbers in [0, 1). It must be safe for concurrent use.
func WithRandom(ctx context.Context, random func() float64) context.Context {
	return context.WithValue(ctx, randomKey{}, random)
}

// Random returns a number of WithRandom, or of [rand.Float64].
func Random(ctx context.Context) float64 {
	if random, ok := ctx.Value(randomKey{}).(func() float64); ok {
		return random()
	}
	return rand.Float64() //nolint:gosec // chance keeps callers apart, and is no secret
}
