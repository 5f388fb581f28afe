package sqsafe

import (
	"log/slog"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// Options are what a function says about its jobs. The zero value works: what is not
// set comes from the environment, or is made with the clients of the host.
type Options struct {
	// Options are those of the processor. Ledger, DeadLetter, Queue and Restore that are
	// nil are made: the DynamoDB table, the dead-letter queue, the source queue, and
	// dlq.Restore. Backoff nil is the profile that SQSAFE_BACKOFF names; Concurrency,
	// MaxReceives, UnclassifiedAttempts and ExcerptBytes of 0 are what the environment
	// says; Logger nil is that of [NewLogger] on standard error.
	handler.Options

	// Key gives each job its idempotency key; nil means the message id, under which a
	// job that is sent or redriven again is another job.
	Key idem.KeyFunc
	// Hash, Lease, Keep, FailOpen and DeadLetterUnknown are those of idem.Options. They
	// have no effect beside a Ledger of one's own, and neither has Key.
	Hash              idem.Hash
	Lease, Keep       time.Duration
	FailOpen          bool
	DeadLetterUnknown bool

	// Strict refuses payloads with members that the function's type does not know.
	Strict bool
	// DecodeWith decodes payloads in the place of json.Unmarshal; see [handler.DecodeWith].
	DecodeWith func(data []byte, into any) error
	// Envelope takes off what the payload is wrapped in, such as envelope.EventBridge;
	// nil where the body is the payload.
	Envelope func(handler.Handler) handler.Handler

	// Table is the name of the ledger's table, DeadLetterURL the URL of the dead-letter
	// queue; empty means what SQSAFE_TABLE and SQSAFE_DLQ_URL say.
	Table         string
	DeadLetterURL string
}

// Option sets a part of the Options.
type Option func(*Options)

// NewOptions applies each option once, in their order. A nil Option sets nothing.
func NewOptions(options ...Option) Options {
	var o Options
	for _, set := range options {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// KeyField takes the idempotency key from a member of the JSON payload, such as "id" or
// "order.id". A job without it is dead-lettered.
func KeyField(path string) Option {
	return func(o *Options) { o.Key = idem.JSONField(path) }
}

// ledgerOptions are what the options say of the ledger.
func (o *Options) ledgerOptions() *idem.Options {
	return &idem.Options{
		Key: o.Key, Hash: o.Hash, Lease: o.Lease, Keep: o.Keep,
		FailOpen: o.FailOpen, DeadLetterUnknown: o.DeadLetterUnknown, Logger: o.Logger,
	}
}

// warn tells once of what is allowed and seldom meant.
func warn[T any](o *Options) {
	if o.Key == nil {
		o.Logger.Warn("no idempotency key is set: a job that is sent or redriven again runs again",
			"remedy", "give Start a key, such as sqsafe.KeyField")
	}
	if wantsValidate[T]() {
		o.Logger.Warn("payloads are not validated: one that is empty or incomplete runs as a value of zeros",
			"type", typeName[T](), "remedy", "give the type a method Validate() error")
	}
	warnOfFewReceives(o)
	for reason, profile := range o.profiles() {
		if o.MaxReceives <= 0 || profile.Attempts() < o.MaxReceives {
			continue
		}
		attrs := []any{
			slog.Int("attempts", profile.Attempts()), slog.Int("maxReceives", o.MaxReceives),
			slog.String("remedy", "raise the queue's maxReceiveCount and SQSAFE_MAX_RECEIVES well above the attempts, "+
				"since deferred deliveries use receives too"),
		}
		if reason != "" {
			attrs = append(attrs, slog.String("reason", reason))
		}
		o.Logger.Warn("the queue hands a job out no more often than it may be tried: its last attempts are never made",
			attrs...)
	}
}

const (
	// fewReceives is the least maxReceiveCount with which jobs that find no time in a batch
	// come back when there is some. fewFIFOReceives is that of a FIFO queue, whose messages
	// are received with up to nine that are before them.
	fewReceives     = 5
	fewFIFOReceives = 20
)

// warnOfFewReceives warns of a maxReceiveCount by which healthy jobs die.
func warnOfFewReceives(o *Options) {
	least := fewReceives
	if strings.HasSuffix(o.DeadLetterURL, ".fifo") { // so is its source queue
		least = fewFIFOReceives
	}
	if o.MaxReceives <= 0 || o.MaxReceives >= least {
		return
	}
	o.Logger.Warn("the queue hands a job out too seldom: it may be dead before it has found time to run",
		slog.Int("maxReceives", o.MaxReceives), slog.Int("least", least),
		slog.String("remedy", "raise the queue's maxReceiveCount and SQSAFE_MAX_RECEIVES, or lower the event source's "+
			"BatchSize to what one invocation can do"))
}

// profiles are the backoff profiles by reason; that of all other reasons is under "".
func (o *Options) profiles() map[string]handler.Backoff {
	all := map[string]handler.Backoff{"": o.Backoff}
	for reason, profile := range o.BackoffByReason {
		if profile != nil {
			all[reason] = profile
		}
	}
	return all
}
