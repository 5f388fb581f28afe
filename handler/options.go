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

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// Classifier decides what an error means. It must be safe for concurrent use.
type Classifier interface {
	Classify(ctx context.Context, err error) fault.Decision
}

// Backoff decides how long to wait after a failure and how many runs a job gets. It must
// be safe for concurrent use.
type Backoff interface {
	// Delay returns the wait after the attempt-th failure, counted from 1. random returns
	// numbers in [0, 1).
	Delay(attempt int, random func() float64) time.Duration
	// Attempts returns the number of runs after which a job is dead, at least 1.
	Attempts() int
}

// Options are the settings of a [Processor]. The zero value works: it classifies with
// [fault.Rules], waits by [backoff.Exponential], and leaves dead letters and visibility
// timeouts to the queue.
type Options struct {
	// Middleware wraps the run of a job, the first outermost.
	Middleware []Middleware
	// Ledger makes each job take effect once although its message may be delivered
	// several times. Nil runs the job at each delivery. Package idem has one.
	Ledger Ledger
	// DeadLetter sends dead jobs to the dead-letter queue; nil leaves them to the queue's
	// redrive policy.
	DeadLetter DeadLetter
	// Queue changes and deletes messages of the source queue. With nil, failed messages
	// come back after the queue's own visibility timeout, and after a crash the whole
	// batch is redelivered.
	Queue Queue
	// Classifier defaults to fault.Rules().
	Classifier Classifier
	// Backoff defaults to backoff.Exponential{}. NewProcessor calls its method Validate()
	// error if it has one.
	Backoff Backoff
	// UnclassifiedAttempts is the number of runs for a job with errors that no rule
	// knows; 0 means 3. Without a Ledger each receive of the message counts as a run, here
	// and for Backoff, since nothing else is known.
	UnclassifiedAttempts int
	// MaxReceives is the maxReceiveCount of the queue's redrive policy. A job that fails
	// at its last receive is dead-lettered with its record, before SQS moves it without
	// one; 0 means unknown.
	MaxReceives int
	// Concurrency is how many messages of a batch run at the same time; those of one FIFO
	// group run one after another. 0 means 1.
	Concurrency int
	// Breaker is how many dependency failures in a row (no connection, no answer, too
	// many calls, no rights) open the breaker. While other jobs succeed, a job that
	// failed so before does not count. While the breaker is open, one job runs at a time
	// as a probe: the next first delivery at once, then one after 1, 2, 4, 8 and from
	// then on every 10 seconds. All others are deferred and use no budget. 0 means 5, a
	// number below 0 never.
	Breaker int
	// AwaitSettle starts a job only after the ledger has stored the outcome of the one
	// before. It is for functions with effects that take no idempotency key. Without it,
	// a process that dies shortly after a start can cause the job before to run again.
	AwaitSettle bool
	// BackoffByReason has the Backoff for failures with some reasons; a nil value means
	// Backoff. A nil map means backoff.Stepped{} for fault.ReasonEnvironment, which a
	// person has to fix.
	BackoffByReason map[string]Backoff
	// Drop names the reasons for which a dead job has no dead letter: it is acknowledged,
	// logged and counted, and its payload is lost. Nil drops nothing.
	Drop []string
	// PanicAsPermanent makes a panic of the handler a permanent failure of its job alone.
	// It is for handlers that only compute and keep no state. After any other panic the
	// state of the process may be damaged, so the process ends.
	PanicAsPermanent bool
	// Hooks are called with the outcomes of messages.
	Hooks Hooks
	// Instrument is called once by NewProcessor with the complete options, and may wrap what
	// they hold: Ledger, DeadLetter, Queue, Middleware, Hooks and Begin. Package tracing has
	// one. Nil wraps nothing.
	Instrument func(o *Options)
	// Begin returns the context of a batch, made of that of the invocation: the contexts of
	// all calls for the batch are made of it, those of Ledger, DeadLetter and Hooks too. It
	// has to return soon: after a second, or a panic, the batch goes on without it. Nil,
	// here or as the answer, means the invocation's context. It must be safe for concurrent
	// use.
	Begin func(ctx context.Context, records []events.SQSMessage) context.Context
	// Restore is called for every message before it is decoded, and may change it.
	// dlq.Restore removes what a dead letter carries. A panic of Restore is a permanent
	// failure of the message.
	Restore func(m *Message)
	// Reserve is the time kept at the end of an invocation for settling: no message
	// starts in it, and running ones are cancelled when it begins. 0 means a tenth of the
	// time, at least 2 s. It is never more than half of the time.
	Reserve time.Duration
	// ExcerptBytes is how many bytes of a payload the log line of its dead letter shows,
	// up to 1024; 0 means 1024, a number below 0 means none.
	ExcerptBytes int
	// Redact returns the payload without what must not be logged. The log line of the
	// dead letter shows the first bytes of it. Nil means the content unchanged. If Redact
	// panics, the line shows nothing.
	Redact func(m *Message) string
	// Logger gets one line for each message; nil means slog.Default(). A panic of its
	// handler loses the line. The batch waits for each line, up to the end of the
	// invocation.
	Logger *slog.Logger
	// Random returns numbers in [0, 1) for jitter and rounding, and must be safe for
	// concurrent use; nil means math/rand/v2. A panic of it counts as 0.5.
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

// panicSafeRandom recovers panics of Random. The processor calls it between user code
// too, and a source that is not safe for concurrent use may panic under load.
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

// environmentBackoff is the backoff of failures that a person has to fix.
var environmentBackoff = backoff.Stepped{}

// validateNumbers refuses negative numbers that have no meaning.
func (o *Options) validateNumbers() error {
	if o == nil {
		return nil
	}
	var errs []error
	refuse := func(name string, value any, zero string) {
		errs = append(errs, fmt.Errorf("handler: %s is %v, want at least 1, or 0 for %s", name, value, zero))
	}
	if o.Concurrency < 0 {
		refuse("Concurrency", o.Concurrency, "1")
	}
	if o.MaxReceives < 0 {
		refuse("MaxReceives", o.MaxReceives, "an unknown maxReceiveCount")
	}
	if o.UnclassifiedAttempts < 0 {
		refuse("UnclassifiedAttempts", o.UnclassifiedAttempts, fmt.Sprint(defaultUnclassifiedAttempts))
	}
	if o.Reserve < 0 {
		errs = append(errs, fmt.Errorf("handler: Reserve is %v, want more than 0, or 0 for a tenth of the time", o.Reserve))
	}
	return errors.Join(errs...)
}

// validate calls Validate on each Backoff that has it.
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

// panicSafeHandler recovers panics of a log handler. Only the log line is lost.
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
