package worker

import (
	"cmp"
	"log/slog"
	"path"
	"time"

	"github.com/sqsafe/sqsafe/metrics"
)

// Options are the settings of a [Worker]. Only QueueURL is required.
type Options struct {
	// QueueURL is the queue that is polled.
	QueueURL string
	// Batches is how many batches of up to ten messages are processed at the same
	// time; 0 means 2. Up to Batches times the Concurrency of the processor jobs run at a
	// time, ten for a batch at most: a batch that is not full leaves its slots to
	// another.
	Batches int
	// Drain is how long running jobs may go on after the worker was told to stop; 0 means
	// 15 s. Jobs that still run then are cancelled, and have up to 11 s more to be
	// settled. So by default the worker ends within 27 s: orchestrators kill after 30 s.
	Drain time.Duration
	// BatchTimeout is how long a batch may take, as the Timeout of a Lambda
	// function: no job starts near its end, and running ones are cancelled; 0
	// means as long as it takes, up to the 12 hours that SQS hides a message.
	BatchTimeout time.Duration
	// Metrics receives the metrics of batches once a minute, such as a
	// *cloudwatch.Client; nil for none. [Worker.OnBatch] must then be a hook of the
	// processor.
	Metrics MetricsAPI
	// MetricsNamespace is the namespace of the metrics; empty means
	// metrics.DefaultNamespace.
	MetricsNamespace string
	// Name is the value of metrics.Dimension; empty means the name of the queue.
	Name string
	// Logger gets the log lines of the worker; nil means slog.Default().
	Logger *slog.Logger
}

const (
	defaultBatches = 2
	defaultDrain   = 15 * time.Second
)

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.Batches = cmp.Or(max(out.Batches, 0), defaultBatches)
	out.Drain = cmp.Or(max(out.Drain, 0), defaultDrain)
	out.MetricsNamespace = cmp.Or(out.MetricsNamespace, metrics.DefaultNamespace)
	out.Name = cmp.Or(out.Name, path.Base(out.QueueURL))
	out.Logger = cmp.Or(out.Logger, slog.Default())
	return out
}
