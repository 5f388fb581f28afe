package idem

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Options tell a [Ledger] how to claim jobs. The zero value works.
type Options struct {
	// Key finds a job's idempotency key; nil means [MessageID].
	Key KeyFunc
	// Hash selects what of a payload tells one job from another under the same key; the
	// zero value takes all of it. See [HashFields] and [HashNothing].
	Hash Hash
	// Lease is how long a claim lasts where the invocation has no deadline. It is
	// renewed every third of that time until the job is settled, so that it is how long
	// the job of a killed process waits. A job whose claim could not be renewed for as
	// long is cancelled. 0 means 1 minute; the least is a second.
	// A copy of a running job comes back about once in a lease and uses up receives, so
	// jobs of half an hour and more want a longer one.
	//
	// With a deadline a claim lasts until then and is not renewed. The margin of two
	// seconds for clocks that differ comes on top.
	Lease time.Duration
	// Keep is how long the store remembers a job after its last change; 0
	// means 30 days. It should cover the retention of the queue and of its
	// dead-letter queue together, so that a late copy or replay is recognised.
	Keep time.Duration
	// FailOpen lets jobs run while the store cannot be asked: for work that does
	// less harm when it is repeated than when it waits. A job that is then done
	// is acknowledged with [ReasonUnprotected], and a copy of it runs again. One
	// that fails is retried as if it had not run, since neither its budget nor a
	// verdict can be written. Its steps are not recorded.
	//
	// The store is given up after a quarter of the time left, 5 seconds at most.
	// False means that jobs wait for the store.
	FailOpen bool
	// DeadLetterUnknown sends a job to the dead-letter queue, with
	// [ReasonUnknownOutcome], when an earlier claim on it ended without a result:
	// its process died, or could not write the result. It may have taken effect,
	// and a person finds out; a replay runs it. False means that it runs again,
	// which is right wherever its effect takes the [Key].
	DeadLetterUnknown bool
	// Logger gets what went wrong in the store but changes no outcome; nil
	// means slog.Default(). A line whose writing panics is lost.
	Logger *slog.Logger

	classifier fault.Table
	random     func() float64
}

const (
	defaultLease = time.Minute
	minLease     = time.Second
	// letterLease is the least lease that is left to the sending of a dead letter.
	letterLease = 5 * time.Minute
	defaultKeep = 30 * 24 * time.Hour
)

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Key == nil {
		out.Key = MessageID()
	}
	if out.Lease == 0 {
		out.Lease = defaultLease
	}
	if out.Keep == 0 {
		out.Keep = defaultKeep
	}
	if out.Logger == nil {
		out.Logger = slog.Default()
	}
	out.classifier, out.random = fault.Rules(), rand.Float64
	switch {
	case out.Hash.err != nil:
		return out, out.Hash.err
	case out.Lease < minLease:
		return out, fmt.Errorf("idem: Lease is %v; give it at least %v, or 0 for %v", out.Lease, minLease, defaultLease)
	case out.Keep < time.Second:
		return out, fmt.Errorf("idem: Keep is %v; give it at least %v, or 0 for %v", out.Keep, time.Second, defaultKeep)
	}
	return out, nil
}

// log keeps a panic of the log handler from the job.
func (o *Options) log(ctx context.Context, level slog.Level, what string, attrs ...slog.Attr) {
	defer func() { _ = recover() }()
	o.Logger.LogAttrs(ctx, level, what, attrs...)
}
