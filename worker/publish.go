package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

// MetricsAPI has the method of CloudWatch that the worker calls; [*cloudwatch.Client] has
// it. It must be safe for concurrent use.
type MetricsAPI interface {
	PutMetricData(
		ctx context.Context, in *cloudwatch.PutMetricDataInput, options ...func(*cloudwatch.Options),
	) (*cloudwatch.PutMetricDataOutput, error)
}

const (
	publishEvery = time.Minute
	// publishTimeout is how long a call may take, with the retries of the SDK.
	publishTimeout = 20 * time.Second
	// lastPublish is how long the metrics at the end may take. crashPublish is that limit
	// after a crash, or if no time is left.
	lastPublish  = 3 * time.Second
	crashPublish = 400 * time.Millisecond
	// dataPerCall is half of the 1,000 metrics that CloudWatch takes in one call of
	// PutMetricData: as many with the longest names stay below its other limit, 1 MB.
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
	dataPerCall = 500
)

// publisher sends the metrics of batches once a minute, and at the end. A nil
// publisher sends nothing.
type publisher struct {
	gathered
	api        MetricsAPI
	namespace  string
	dimensions []types.Dimension
	logger     *slog.Logger

	// sending is the context of all calls.
	sending context.Context
	abandon context.CancelFunc
	stopped chan struct{} // closed when the last metrics are to be sent
	ended   chan struct{} // closed when they are
	denied  bool          // whether the last call was not permitted, of which a line was logged
}

func newPublisher(o *Options) *publisher {
	if o.Metrics == nil {
		return nil
	}
	p := &publisher{
		api: o.Metrics, namespace: o.MetricsNamespace, logger: o.Logger,
		dimensions: []types.Dimension{{Name: aws.String(metrics.Dimension), Value: aws.String(o.Name)}},
		stopped:    make(chan struct{}), ended: make(chan struct{}),
	}
	p.sending, p.abandon = context.WithCancel(context.Background())
	return p
}

// OnBatch adds a batch to the metrics of its minute, and to those of [Worker.Metrics]. It is
// the hook that the worker's processor must have, in [handler.Hooks].OnBatch, for
// Options.Metrics and Worker.Metrics to have an effect. It is safe for concurrent use.
func (w *Worker) OnBatch(_ context.Context, r handler.Report) {
	if r.Messages == 0 {
		return
	}
	w.metrics.add(r)
	if w.publisher != nil {
		w.publisher.add(r, time.Now())
	}
}

func (p *publisher) start() {
	if p != nil {
		go p.run()
	}
}

func (p *publisher) run() {
	defer close(p.ended)
	ticker := time.NewTicker(publishEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			p.beat(now)
			p.send()
		case <-p.stopped:
			p.send()
			return
		}
	}
}

// stop sends the remaining metrics and waits for that, up to limit.
func (p *publisher) stop(limit time.Duration) {
	if p == nil {
		return
	}
	defer p.abandon()
	close(p.stopped)
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.logger.Warn("last metrics not sent", "error", "CloudWatch did not answer in time",
			"limitSeconds", limit.Seconds())
	}
}

// send sends the gathered metrics. Metrics that CloudWatch does not accept are lost,
// since the SDK has retried by then.
func (p *publisher) send() {
	for data := range slices.Chunk(p.take(p.dimensions), dataPerCall) {
		ctx, cancel := context.WithTimeout(p.sending, publishTimeout)
		_, err := p.api.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: &p.namespace, MetricData: data})
		cancel()
		if p.sending.Err() != nil {
			return // the process leaves, and stop has told it
		}
		p.report(err, len(data))
	}
}

// report logs a failure. A missing permission is logged once, until a call succeeds.
func (p *publisher) report(err error, lost int) {
	wasDenied := p.denied
	p.denied = isDenied(err)
	if err == nil || p.denied && wasDenied {
		return
	}
	remedy := "none if it was once, else see whether the worker reaches CloudWatch"
	if p.denied {
		remedy = "allow cloudwatch:PutMetricData to the worker"
	}
	p.logger.Warn("metrics not sent", "error", err.Error(), "namespace", p.namespace, "lost", lost,
		"remedy", remedy+"; "+namespaceVariable+"="+metricsOff+" switches metrics off")
}

// isDenied reports whether a permission is missing. The code depends on the protocol.
func isDenied(err error) bool {
	var refusal interface{ ErrorCode() string }
	return errors.As(err, &refusal) && strings.HasPrefix(refusal.ErrorCode(), "AccessDenied")
}
