package sqsafe

import (
	"log/slog"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/wholebody"
	"github.com/sqsafe/sqsafe/queue"
)

// Host is how a program that runs jobs reaches AWS; [NewHost] makes it. Lambda
// functions need none, since [Start] makes its own. The worker makes one with
// the configuration that the SDK's config package finds.
type Host struct {
	SQS      *sqs.Client
	DynamoDB *dynamodb.Client
	// Queue is the queue that the batches come from; nil means that of SQS.
	Queue handler.Queue

	lookup lookupFunc
}

// NewHost gives a Host whose clients have the given configuration. Endpoints
// that the environment names, in AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_DYNAMODB
// or AWS_ENDPOINT_URL for both, take the place of AWS's and of cfg's.
func NewHost(cfg aws.Config) *Host { return newHost(os.LookupEnv, cfg) }

func newHost(lookup lookupFunc, cfg aws.Config) *Host {
	return &Host{
		SQS:      sqs.NewFromConfig(lookup.near(cfg, "SQS")),
		DynamoDB: dynamodb.NewFromConfig(lookup.near(cfg, "DYNAMODB")),
		lookup:   lookup,
	}
}

// near gives cfg with the endpoint of one service where one is set.
func (lookup lookupFunc) near(cfg aws.Config, service string) aws.Config {
	if endpoint := lookup.endpoint(service); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
		cfg.HTTPClient = wholebody.Client(nil)
	}
	return cfg
}

// NewProcessor wires the handler for job: it reads the same environment as
// [Start] and has the same errors as the function [NewProcessor].
func (h *Host) NewProcessor(job handler.Handler, options ...Option) (*handler.Processor, error) {
	env, err := readEnvironment(h.lookup)
	if err != nil {
		return nil, err
	}
	o := h.options(options)
	if o.Key == nil {
		o.Logger.Warn("no idempotency key is set: a job that is sent or redriven again runs again",
			"remedy", "give Start a key, such as sqsafe.KeyField")
	}
	if o.Backoff == nil {
		o.Backoff = env.backoff
	}
	if o.Concurrency == 0 {
		o.Concurrency = env.concurrency
	}
	if o.Envelope != nil {
		job = o.Envelope(job)
	}
	source, sender, err := h.queues(env, o.Logger)
	if err != nil {
		return nil, err
	}
	ledger, err := idem.New(dynamo.New(h.DynamoDB, env.table, nil), &idem.Options{
		Key: o.Key, FailOpen: o.FailOpen, DeadLetterUnknown: o.DeadLetterUnknown, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	return handler.NewProcessor(job, &handler.Options{
		Restore:              dlq.Restore,
		Middleware:           o.Middleware,
		Ledger:               ledger,
		DeadLetter:           sender,
		Queue:                source,
		Classifier:           o.Classifier,
		Backoff:              o.Backoff,
		BackoffByReason:      o.BackoffByReason,
		Concurrency:          o.Concurrency,
		Breaker:              o.Breaker,
		Drop:                 o.Drop,
		PanicAsPermanent:     o.PanicAsPermanent,
		Hooks:                o.Hooks,
		UnclassifiedAttempts: env.unclassifiedAttempts,
		MaxReceives:          env.maxReceives,
		ExcerptBytes:         env.excerpt,
		Redact:               o.Redact,
		Logger:               o.Logger,
	})
}

// queues are the queue that the batches come from and the dead-letter queue.
func (h *Host) queues(env *environment, logger *slog.Logger) (handler.Queue, *dlq.Sender, error) {
	sender, err := dlq.NewSender(h.SQS, env.deadLetterURL, &dlq.Options{Logger: logger})
	if err != nil {
		return nil, nil, &InvalidError{
			Name: "SQSAFE_DLQ_URL", Value: env.deadLetterURL,
			Wants: "the URL of the dead-letter queue, as the queue has it, and not its name or ARN",
		}
	}
	if h.Queue != nil {
		return h.Queue, sender, nil
	}
	endpoint := aws.ToString(h.SQS.Options().BaseEndpoint)
	source, err := queue.New(h.SQS, &queue.Options{Endpoint: endpoint, Logger: logger})
	return source, sender, err
}

func (h *Host) options(options []Option) Options {
	var o Options
	for _, set := range options {
		set(&o)
	}
	if o.Logger == nil {
		o.Logger = newLogger(os.Stderr, h.lookup)
	}
	return o
}
