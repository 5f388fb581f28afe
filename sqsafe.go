package sqsafe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/metrics"
)

// Options are what a function says about its jobs. The zero value works.
type Options struct {
	// Key gives each job its idempotency key; nil means the message id, under
	// which a job that is sent or redriven again is another job.
	Key idem.KeyFunc
	// FailOpen runs jobs unprotected while the ledger cannot be asked, and
	// DeadLetterUnknown dead-letters a job whose last run may have taken effect
	// instead of running it again. See idem.Options.
	FailOpen, DeadLetterUnknown bool
	// Envelope takes off what the payload is wrapped in, such as
	// envelope.EventBridge; nil where the body is the payload.
	Envelope func(handler.Handler) handler.Handler
	// Middleware runs before the idempotency check, the first outermost.
	Middleware []handler.Middleware
	// Classifier says what errors mean; nil means fault.Rules().
	Classifier handler.Classifier
	// Backoff is how long failed jobs wait, and BackoffByReason how long those
	// that fail for some reasons do; nil means the profile that SQSAFE_BACKOFF
	// names, and the default of handler.Options.
	Backoff         handler.Backoff
	BackoffByReason map[string]handler.Backoff
	// Concurrency is how many messages of a batch run at a time; 0 means what
	// SQSAFE_CONCURRENCY says.
	Concurrency int
	// Breaker, Drop, PanicAsPermanent and Hooks are those of handler.Options.
	Breaker          int
	Drop             []string
	PanicAsPermanent bool
	Hooks            handler.Hooks
	// Redact gives the text of a dead letter's payload of which its log line shows
	// the begin; nil shows the payload as it is. SQSAFE_LOG_EXCERPT_BYTES says how
	// much.
	Redact func(m *handler.Message) string
	// Logger gets one line for each message; nil means that of [NewLogger] on
	// standard error.
	Logger *slog.Logger
}

// Option sets a part of the Options.
type Option func(*Options)

// KeyField takes the idempotency key from a member of the JSON payload, such as
// "id" or "order.id". A job without it is dead-lettered.
func KeyField(path string) Option {
	return func(o *Options) { o.Key = idem.JSONField(path) }
}

// Start runs fn as a Lambda function that is fed by SQS, and does not return.
// It takes the names of the table and the queues from the environment, as
// template.yaml sets it:
//
//   - SQSAFE_TABLE, SQSAFE_DLQ_URL and SQSAFE_MAX_RECEIVES, the queue's
//     maxReceiveCount, are required;
//   - SQSAFE_BACKOFF is "exponential", or "stepped"; SQSAFE_JITTER and
//     SQSAFE_MAX_ATTEMPTS are those of the profile where they are 0 or not set;
//   - SQSAFE_UNCLASSIFIED_ATTEMPTS is how many runs a job gets whose error no
//     rule knows (3);
//   - SQSAFE_CONCURRENCY is how many messages of a batch run at a time (1);
//   - SQSAFE_LOG_EXCERPT_BYTES is how much of a payload the log line of a dead
//     letter shows, up to 1024 (1024), 0 for nothing;
//   - SQSAFE_METRICS_NAMESPACE is the namespace of the metrics ("sqsafe"), of which
//     it writes a line for each batch to standard output; "off" for none.
//
// If one is missing or makes no sense, Start names it on standard error and exits
// with code 1.
func Start[T any](fn func(ctx context.Context, payload T) error, options ...Option) {
	p, err := NewProcessor(fn, options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqsafe:", err)
		os.Exit(1)
	}
	lambda.StartWithOptions(p, lambda.WithEnableSIGTERM())
}

// NewProcessor makes the handler that [Start] runs, for programs that start it
// themselves. Its errors name the environment variable that is missing
// ([MissingError]) or wrong ([InvalidError]).
func NewProcessor[T any](
	fn func(ctx context.Context, payload T) error, options ...Option,
) (*handler.Processor, error) {
	return newProcessor(os.LookupEnv, handler.JSON(fn), options...)
}

func newProcessor(lookup lookupFunc, job handler.Handler, options ...Option) (*handler.Processor, error) {
	cfg, err := lambdaConfig(lookup)
	if err != nil {
		return nil, err
	}
	namespace, err := lookup.namespace()
	if err != nil {
		return nil, err
	}
	h := newHost(lookup, cfg)
	if namespace != metricsOff {
		options = append(slices.Clip(options), h.metrics(namespace, os.Stdout))
	}
	return h.NewProcessor(job, options...)
}

// metricsOff is the namespace that stands for no metrics.
const metricsOff = "off"

// namespace is that of the metrics; empty for the default.
func (lookup lookupFunc) namespace() (string, error) {
	const name = "SQSAFE_METRICS_NAMESPACE"
	value, _ := lookup(name)
	if strings.HasPrefix(value, "AWS/") {
		return "", &InvalidError{Name: name, Value: value, Wants: `a namespace that does not begin with "AWS/", or "off"`}
	}
	return value, nil
}

// metrics adds the metrics of Lambda functions to what the options ask for.
func (h *Host) metrics(namespace string, w io.Writer) Option {
	return func(o *Options) {
		logger := cmp.Or(o.Logger, newLogger(os.Stderr, h.lookup))
		write := metrics.Lines(w, &metrics.Options{Namespace: namespace, Logger: logger})
		own := o.Hooks.OnBatch
		o.Hooks.OnBatch = func(ctx context.Context, r handler.Report) {
			write(ctx, r)
			if own != nil {
				own(ctx, r)
			}
		}
	}
}
