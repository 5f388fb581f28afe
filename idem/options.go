package idem

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Options are the settings of a [Ledger]. The zero value works.
type Options struct {
	// Key returns a job's idempotency key; nil means [MessageID].
	Key KeyFunc
	// Hash selects the part of a payload that distinguishes two jobs under the same key;
	// the zero value selects all of it. See [HashFields] and [HashNothing].
	Hash Hash
	// Lease is how long a claim lasts if the invocation has no deadline. It is renewed
	// after every third of that time until the job is settled. So the job of a killed
	// process waits for up to that time. If a claim cannot be renewed for that time, its
	// job is cancelled. 0 means 1 minute; the minimum is a second. A copy of a running
	// job comes back about once in a lease and uses up receives, so jobs of half an hour
	// and more need a longer one.
	//
	// With a deadline a claim lasts until the deadline and is not renewed. A margin of
	// two seconds for clock differences is added in both cases.
	Lease time.Duration
	// Keep is how long the store remembers a job after its last change; 0
	// means 30 days. It should cover the retention of the queue and of its
	// dead-letter queue together, so that a late copy or replay is recognised.
	Keep time.Duration
	// FailOpen lets jobs run while the store cannot be reached: for jobs that do less
	// harm if they are repeated than if they wait. A job that succeeds is acknowledged
	// with [ReasonUnprotected], and a copy of it runs again. A job that fails is retried
	// as if it had not run, since neither its budget nor a verdict can be stored. Its
	// steps are not recorded.
	//
	// A job waits for the store for a quarter of the time left, 5 seconds at most. False
	// means that jobs wait for the store.
	FailOpen bool
	// DeadLetterUnknown dead-letters a job, with [ReasonUnknownOutcome], if an earlier
	// claim on it ended without a result: its process died, or could not write the
	// result. The job may have taken effect; a person must find out, and a replay runs it
	// again. False means that it runs again, which is correct if its effect takes the
	// [Key].
	DeadLetterUnknown bool
	// Logger gets store errors that change no outcome; nil means slog.Default(). A panic
	// of its handler loses the line.
	Logger *slog.Logger

	classifier fault.Table
}

const (
	defaultLease = time.Minute
	minLease     = time.Second
	// letterLease is the least lease for sending a dead letter.
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
	out.classifier = fault.Rules()
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

// log recovers a panic of the log handler.
func (o *Options) log(ctx context.Context, level slog.Level, what string, attrs ...slog.Attr) {
	defer func() { _ = recover() }()
	o.Logger.LogAttrs(ctx, level, what, attrs...)
}
