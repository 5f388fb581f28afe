package idem

import (
	"log/slog"
	"time"
)

// Options tell [Middleware] how to claim jobs. The zero value works.
type Options struct {
	// Key finds a job's idempotency key; nil means [MessageID].
	Key KeyFunc
	// Lease is how long a claim holds where the context has no deadline, and
	// thus the longest that a handler may take there; 0 means 5 minutes. With
	// a deadline a claim holds until then. The margin of two seconds for clocks
	// that differ comes on top.
	Lease time.Duration
	// Keep is how long the store remembers a job after its last change; 0
	// means 30 days. It should cover the retention of the queue and of its
	// dead-letter queue together, so that a late copy or replay is recognised.
	Keep time.Duration
	// Logger gets what went wrong in the store but changes no outcome; nil
	// means slog.Default().
	Logger *slog.Logger
}

const (
	defaultLease = 5 * time.Minute
	defaultKeep  = 30 * 24 * time.Hour
)

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Key == nil {
		out.Key = MessageID()
	}
	if out.Lease <= 0 {
		out.Lease = defaultLease
	}
	if out.Keep <= 0 {
		out.Keep = defaultKeep
	}
	if out.Logger == nil {
		out.Logger = slog.Default()
	}
	return out
}
