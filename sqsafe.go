package sqsafe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe/handler"
)

// Start runs fn as a Lambda function that is fed by SQS, and does not return. It takes
// the names of the table and the queues from the environment, as template.yaml sets
// it. An option that says the same takes the place of a variable:
//
//   - SQSAFE_TABLE, SQSAFE_DLQ_URL and SQSAFE_MAX_RECEIVES, the queue's
//     maxReceiveCount, are required;
//   - SQSAFE_BACKOFF is "exponential", or "stepped"; SQSAFE_JITTER and
//     SQSAFE_MAX_ATTEMPTS are those of the profile where they are 0 or not set;
//   - SQSAFE_UNCLASSIFIED_ATTEMPTS is how many runs a job gets whose error no rule
//     knows (3);
//   - SQSAFE_CONCURRENCY is how many messages of a batch run at a time (1);
//   - SQSAFE_STRICT is "true" to refuse payloads with members that fn does not know;
//   - SQSAFE_HASH_FIELDS names the members of the payload by which two jobs under one
//     key are told apart, such as "id,amount", or is "none" (all of the payload);
//   - SQSAFE_KEEP_DAYS is how long the ledger remembers a job (30), and
//     SQSAFE_LEASE_SECONDS how long a claim lasts where there is no deadline (60);
//   - SQSAFE_LOG_EXCERPT_BYTES is how much of a payload the log line of a dead letter
//     shows, up to 1024; 0 for nothing (0);
//   - SQSAFE_METRICS_NAMESPACE is the namespace of the metrics ("sqsafe"), of which it
//     writes a line for each batch to standard output; "off" for none.
//
// If one is missing or makes no sense, Start names it on standard error and exits with
// code 1. It warns once of what is allowed and seldom meant: a job without a key, a
// payload that is not validated, a budget of attempts that the queue cuts short, a
// maxReceiveCount that is too small for batches which do not end in time.
func Start[T any](fn func(ctx context.Context, payload T) error, options ...Option) {
	p, h, err := newLambdaProcessor(os.LookupEnv, fn, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqsafe:", err)
		os.Exit(1)
	}
	if lookupFunc(os.LookupEnv).endpoint("DYNAMODB") == "" {
		go h.connect()
	}
	lambda.StartWithOptions(p, lambda.WithEnableSIGTERM())
}

// NewProcessor returns the handler that [Start] runs, for programs that start it
// themselves. Its errors name the environment variables that are missing ([MissingError])
// or wrong ([InvalidError]).
func NewProcessor[T any](
	fn func(ctx context.Context, payload T) error, options ...Option,
) (*handler.Processor, error) {
	p, _, err := newLambdaProcessor(os.LookupEnv, fn, options)
	return p, err
}

func newLambdaProcessor[T any](
	lookup lookupFunc, fn func(ctx context.Context, payload T) error, options []Option,
) (*handler.Processor, *Host, error) {
	cfg, err := lambdaConfig(lookup)
	if err != nil {
		o := NewOptions(options...)
		return nil, nil, errors.Join(err, readEnvironment(lookup, &o))
	}
	h := newHost(lookup, cfg)
	p, err := NewProcessorOn(h, fn, append(slices.Clip(options), h.metricLines(os.Stdout))...)
	return p, h, err
}

// NewProcessorOn returns the handler for fn with the clients of a host. It reads the same
// environment as [Start] and has the same errors as [NewProcessor], but writes no metrics
// itself.
func NewProcessorOn[T any](
	h *Host, fn func(ctx context.Context, payload T) error, options ...Option,
) (*handler.Processor, error) {
	o := NewOptions(options...)
	if err := h.complete(&o); err != nil {
		return nil, err
	}
	var decode []handler.DecodeOption
	if o.Strict {
		decode = append(decode, handler.Strict())
	}
	if o.DecodeWith != nil {
		decode = append(decode, handler.DecodeWith(o.DecodeWith))
	}
	job := handler.JSON(fn, decode...)
	if o.Envelope != nil {
		job = o.Envelope(job)
	}
	warn[T](&o)
	if h.test != nil {
		h.test.Made(job, o.Options)
	}
	return handler.NewProcessor(job, &o.Options)
}
