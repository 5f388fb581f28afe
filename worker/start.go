package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/handler"
)

// Start runs fn for the messages of a queue, and does not return. It is the
// mirror of [sqsafe.Start]: options and environment are the same, and also:
//
//   - SQSAFE_QUEUE_URL, the queue to poll, is required;
//   - SQSAFE_BATCHES is how many batches are processed at the same time (2);
//   - SQSAFE_DRAIN_SECONDS is how long running jobs may go on at the end (15), before
//     they are cancelled; up to 12 s more pass until the process has ended;
//   - SQSAFE_BATCH_SECONDS is how long a batch may take (no limit);
//   - SQSAFE_HEALTH_ADDR is where [Worker.Health] answers (":8080"); empty or
//     "off" for nowhere;
//   - SQSAFE_WORKER_NAME is the name that its metrics go under (that of the queue).
//
// Its metrics go to CloudWatch once a minute, in the namespace that
// SQSAFE_METRICS_NAMESPACE names ("sqsafe"; "off" for no metrics).
//
// Region and credentials come from wherever the AWS SDK finds them. SIGTERM or
// SIGINT drains the worker, a second one ends it at once. The exit code is that
// of [ExitCode]; it is 3 after a second signal, and 1 where a setting is missing
// or makes no sense, which is named on standard error.
func Start[T any](fn func(ctx context.Context, payload T) error, options ...sqsafe.Option) {
	ctx := untilSignal(os.Exit)
	err := start(ctx, fn, options)
	if ExitCode(err) == exitFailed {
		fmt.Fprintln(os.Stderr, "sqsafe:", err)
	}
	os.Exit(ExitCode(err))
}

// untilSignal returns a context that ends with the first signal. The second signal ends
// the process.
func untilSignal(exit func(code int)) context.Context {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
		<-signals
		exit(exitForced)
	}()
	return ctx
}

func start[T any](
	ctx context.Context, fn func(ctx context.Context, payload T) error, options []sqsafe.Option,
) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("loading the AWS configuration: %w", err)
	}
	set, err := readSettings(os.LookupEnv)
	if cfg.Region == "" {
		err = errors.Join(err, &sqsafe.MissingError{Name: "AWS_REGION", Wants: "the region of the queue"})
	}
	o := sqsafe.NewOptions(options...)
	if err != nil {
		return allWrong(err, sqsafe.NewHost(cfg), fn, o)
	}
	if o.Logger == nil {
		o.Logger = sqsafe.NewLogger(os.Stderr)
	}
	set.Logger = o.Logger
	host := sqsafe.NewHost(cfg)
	if set.MetricsNamespace != metricsOff {
		set.Metrics = newCloudWatch(cfg, host)
	}
	w, err := New(host.SQS(), &set.Options)
	if err != nil {
		return err
	}
	o.Queue = w.Queue()
	w.measure(&o)
	p, err := sqsafe.NewProcessorOn(host, fn, func(all *sqsafe.Options) { *all = o })
	if err != nil {
		return err
	}
	stop, err := serve(ctx, w, set.healthAddress)
	if err != nil {
		return err
	}
	defer stop()
	return w.Run(ctx, p)
}

// allWrong adds what the processor misses to an error about the worker's own settings, so
// that all is named at once.
func allWrong[T any](
	own error, host *sqsafe.Host, fn func(ctx context.Context, payload T) error, o sqsafe.Options,
) error {
	o.Logger = slog.New(slog.DiscardHandler)
	_, err := sqsafe.NewProcessorOn(host, fn, func(all *sqsafe.Options) { *all = o })
	if err == nil {
		return own
	}
	said := own.Error()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		what, _, _ := strings.Cut(line, ";")
		if !strings.Contains(said, what) { // both read the namespace of the metrics
			own = errors.Join(own, errors.New(line))
		}
	}
	return own
}

// newCloudWatch returns a client with the HTTP client of the host, which works with
// endpoints on the same machine. The SDK finds its endpoint in
// AWS_ENDPOINT_URL_CLOUDWATCH or AWS_ENDPOINT_URL.
func newCloudWatch(cfg aws.Config, host *sqsafe.Host) *cloudwatch.Client {
	return cloudwatch.NewFromConfig(cfg, func(o *cloudwatch.Options) { o.HTTPClient = host.SQS().Options().HTTPClient })
}

// measure adds the worker's metrics to the hooks of the options.
func (w *Worker) measure(o *sqsafe.Options) {
	own := o.Hooks.OnBatch
	o.Hooks.OnBatch = func(ctx context.Context, r handler.Report) {
		w.OnBatch(ctx, r)
		if own != nil {
			own(ctx, r)
		}
	}
}
