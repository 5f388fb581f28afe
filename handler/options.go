package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
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
	// Middleware wraps the run of a job, the first outermost.
	Middleware []Middleware
	// Ledger makes a job take effect once although its message comes several times; nil
	// runs it at each delivery. Package idem has one.
	Ledger Ledger
	// DeadLetter takes dead jobs; nil leaves them to the queue's redrive policy.
	DeadLetter DeadLetter
	// Queue is the queue that the batches come from; nil leaves failed messages to the
	// queue's own visibility timeout, and a crash redelivers the whole batch.
	Queue Queue
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
	// Concurrency is how many messages of a batch run at a time, those of one
	// FIFO group one after another; 0 means 1.
	Concurrency int
	// Breaker is how many failures in a row of what jobs depend on (no connection, no
	// answer, too many calls, no rights) open the breaker. While others succeed, a job
	// that failed so before does not count. While it is open one job runs at a time to
	// find out whether it may close: the next first delivery at once, then one after 1,
	// 2, 4, 8 and from then on every 10 seconds. Its failure costs it nothing, and all
	// others are deferred at no cost to their budget. 0 means 5, a number below 0 never.
	Breaker int
	// AwaitSettle starts a job only when the ledger has the outcome of the one before.
	// It is for functions whose effect takes no key: without it a process that dies
	// within one round trip of a start can repeat the job before.
	AwaitSettle bool
	// BackoffByReason is the Backoff for failures of some reasons; a nil one stands
	// for Backoff. A nil map means backoff.Stepped{} for fault.ReasonEnvironment,
	// which takes a person to mend.
	BackoffByReason map[string]Backoff
	// Drop names the reasons for which a dead job leaves no dead letter: it is
	// acknowledged, logged and counted, and its payload is gone. Nil drops nothing.
	Drop []string
	// PanicAsPermanent makes a panic of the handler a permanent failure of its job
	// alone. It is for handlers that compute and keep nothing: after a panic
	// elsewhere nobody knows what else is broken, so the process is to end.
	PanicAsPermanent bool
	// Hooks are told what becomes of messages.
	Hooks Hooks
	// Restore is called for every message before it is decoded, and may change it; that
	// of package dlq takes out what a dead letter carries. Its panic is a permanent
	// failure of the message.
	Restore func(m *Message)
	// Reserve is the time kept at the end of an invocation for settling: no
	// message starts in it, and running ones are cancelled at its begin. 0 means
	// a tenth of the time, at least 2 s. It is never more than half of the time.
	Reserve time.Duration
	// ExcerptBytes is how much of a payload the log line of its dead letter shows,
	// up to 1024; 0 means 1024, and a number below 0 that it shows nothing.
	ExcerptBytes int
	// Redact gives the text of which that line shows the begin, without what must
	// not be logged; nil means the content as it is. Where it panics, the line shows
	// nothing.
	Redact func(m *Message) string
	// Logger gets one line for each message; nil means slog.Default(). A line whose
	// writing panics is lost. The batch waits for each line, up to the end of the
	// invocation.
	Logger *slog.Logger
	// Random gives numbers in [0, 1) for jitter and rounding, and must be safe
	// for concurrent use; nil means math/rand/v2. A panic of it counts as 0.5.
	Random func() float64
}

const (
	defaultUnclassifiedAttempts = 3
	defaultBreaker              = 5
	maxExcerpt                  = 1024
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
	if out.BackoffByReason == nil {
		out.BackoffByReason = map[string]Backoff{fault.ReasonEnvironment: environmentBackoff}
	}
	if out.Concurrency <= 0 {
		out.Concurrency = 1
	}
	if out.Breaker == 0 {
		out.Breaker = defaultBreaker
	}
	if out.ExcerptBytes == 0 || out.ExcerptBytes > maxExcerpt {
		out.ExcerptBytes = maxExcerpt
	}
	if out.Logger == nil {
		out.Logger = slog.Default()
	}
	out.Logger = slog.New(panicSafeHandler{out.Logger.Handler()})
	if out.Random == nil {
		out.Random = rand.Float64
	} else {
		out.Random = panicSafeRandom(out.Random)
	}
	return out
}

// panicSafeRandom keeps panics from the processor, which asks for numbers between user
// code too: a source that is not safe for concurrent use may panic under load.
func panicSafeRandom(random func() float64) func() float64 {
	return func() (r float64) {
		defer func() {
			if recover() != nil {
				r = 0.5
			}
		}()
		return random()
	}
}

// environmentBackoff is that of failures which a person has to mend.
var environmentBackoff = backoff.Stepped{}

// validate asks each Backoff that can tell whether it is valid.
func (o *Options) validate() error {
	profiles := map[string]Backoff{"": o.Backoff}
	maps.Copy(profiles, o.BackoffByReason)
	var errs []error
	for reason, profile := range profiles {
		if err := validateBackoff(profile); err != nil {
			errs = append(errs, fmt.Errorf("handler: %s: %w", strings.TrimSpace("backoff "+reason), err))
		}
	}
	return errors.Join(errs...)
}

func validateBackoff(b Backoff) error {
	if b == nil {
		return nil
	}
	if v, ok := b.(validator); ok {
		return v.Validate()
	}
	if n := b.Attempts(); n < 1 {
		return fmt.Errorf("%T: Attempts() gives %d, want at least 1", b, n)
	}
	return nil
}

// panicSafeHandler keeps panics of a log handler from jobs: what cannot be logged is
// lost, and nothing else.
type panicSafeHandler struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (s panicSafeHandler) Enabled(ctx context.Context, level slog.Level) bool {
	defer func() { _ = recover() }()
	return s.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (s panicSafeHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }()
	return s.Handler.Handle(ctx, r)
}
