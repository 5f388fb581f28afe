package worker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/redact"
	"github.com/sqsafe/sqsafe/queue"
)

// Worker polls one queue and runs its jobs.
type Worker struct {
	client    *sqs.Client
	options   Options
	heartbeat *heartbeat
	publisher *publisher
	metrics   exposition
	health    health
}

// New returns a worker for the queue in o. The error says that the client
// is nil, or that its endpoint is no URL. Whether the queue exists is seen by [Worker.Run].
func New(client *sqs.Client, o *Options) (*Worker, error) {
	w := &Worker{client: client, options: o.withDefaults()}
	endpoint := ""
	if client != nil {
		endpoint = aws.ToString(client.Options().BaseEndpoint)
	}
	source, err := queue.New(client, &queue.Options{Endpoint: endpoint, Logger: w.options.Logger})
	if err != nil {
		return nil, fmt.Errorf("worker.New: %w", err)
	}
	w.publisher = newPublisher(&w.options)
	w.metrics.queue = w.options.Name
	w.heartbeat = newHeartbeat(source, w.options.Logger)
	return w, nil
}

// Queue returns the queue that the worker's processor must use. It keeps the heartbeat
// from overwriting a visibility change of the processor.
func (w *Worker) Queue() handler.Queue { return w.heartbeat }

// Run polls and passes each batch to p until ctx ends; then it drains and returns nil. It
// returns [ErrForced] if draining took too long, and a [*CrashError] soon after user code
// has panicked. In both cases jobs may still run, and the process should end. Other
// errors come before anything is received: the queue's attributes could not be read, or
// are not suitable. Run may be called once.
func (w *Worker) Run(ctx context.Context, p *handler.Processor) error {
	mapping, visibility, err := w.describe(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go w.heartbeat.run(beating, visibility)
	w.options.Logger.Info("worker started", "queue", mapping.QueueARN, "batches", w.options.Batches,
		"visibilityTimeoutSeconds", visibility.Seconds(), "drainSeconds", w.options.Drain.Seconds())
	w.publisher.start()
	r := newRun(ctx, w, p)
	r.start(mapping)
	return r.wait()
}

// describe reads the queue attributes that the worker needs.
func (w *Worker) describe(ctx context.Context) (m eventsource.Mapping, visibility time.Duration, err error) {
	names := []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout}
	out, err := w.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &w.options.QueueURL, AttributeNames: names,
	})
	if err != nil {
		return m, 0, fmt.Errorf("worker: reading the attributes of the queue %q: %w", redact.URL(w.options.QueueURL), err)
	}
	timeout := out.Attributes["VisibilityTimeout"]
	seconds, err := strconv.Atoi(timeout)
	if err != nil || seconds < 1 {
		return m, 0, fmt.Errorf("worker: the queue %q has a visibility timeout of %q s, under which messages are handed "+
			"out again while their jobs run; set it to at least 1, better 30", redact.URL(w.options.QueueURL), timeout)
	}
	m = eventsource.Mapping{
		QueueURL: w.options.QueueURL, QueueARN: out.Attributes["QueueArn"],
		ReportBatchItemFailures: true, Concurrency: 1,
	}
	return m, time.Duration(seconds) * time.Second, m.Validate()
}
