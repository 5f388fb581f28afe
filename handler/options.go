package handler

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// Classifier says what an error means. It must be safe for concurrent use.
type Classifier interface {
	Classify(ctx context.Context, err error) fault.Decision
}

// Backoff says how long to wait after a failure, and how many runs a job gets.
// It must be safe for concurrent use.
type Backoff interface {
	// Delay is the wait after the attempt-th failure, counted from 1; random
	// gives numbers in [0, 1).
	Delay(attempt int, random func() float64) time.Duration
	// Attempts is the number of runs after which a job is dead, at least 1.
	Attempts() int
}

// Options tell a [Processor] what it works with. The zero value works: it
// classifies with [fault.Rules], waits by [backoff.Exponential], and leaves dead
// letters and visibility timeouts to the queue.
type Options struct {
	// Middleware wraps the user's function, the first outermost. It runs after
	// the payload was decoded and validated. An error of the user's function
	// reaches it classified, as a [Result].
	Middleware []Middleware
	// DeadLetter takes dead jobs; nil leaves them to the queue's redrive policy.
	DeadLetter DeadLetter
	// Source is the queue that the batches come from; nil leaves failed messages
	// to the queue's own visibility timeout, and lets a crash redeliver the
	// whole batch.
	Source Source
	// Classifier defaults to fault.Rules().
	Classifier Classifier
	// Backoff defaults to backoff.Exponential{}. One with a method Validate()
	// error is asked when the processor is made.
	Backoff Backoff
	// UnclassifiedAttempts is the number of runs for a job whose errors no rule
	// knows; 0 means 3.
	UnclassifiedAttempts int
	// MaxReceives is the maxReceiveCount of the queue's redrive policy. A job
	// that fails at its last receive is dead-lettered with its record, before
	// SQS moves it without one; 0 means unknown.
	MaxReceives int
	// Reserve is the time kept at the end of an invocation for settling: no
	// message starts in it, and running ones are cancelled at its begin. 0 means
	// a tenth of the time, at least 2 s. It is never more than half of the time.
	Reserve time.Duration
	// Logger gets one line for each message; nil means slog.Default().
	Logger *slog.Logger
	// Random gives numbers in [0, 1) for jitter and rounding, and must be safe
	// for concurrent use; nil means math/rand/v2.
	Random func() float64
}

const (
	defaultUnclassifiedAttempts = 3
	minimumReserve              = 2 * time.Second
)

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Classifier == nil {
		out.Classifier = fault.Rules()
	}
	if out.Backoff == nil {
		out.Backoff = backoff.Exponential{}
	}
	if out.UnclassifiedAttempts <= 0 {
		out.UnclassifiedAttempts = defaultUnclassifiedAttempts
	}
	if out.Logger == nil {
		out.Logger = slog.Default()
	}
	if out.Random == nil {
		out.Random = rand.Float64
	}
	return out
}
