package local

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// What an event of the template says is what the queue is polled with, and nothing is
// assumed: a template without ReportBatchItemFailures loses messages here as it does in AWS.
func TestAQueueIsPolledAsTheEventSays(t *testing.T) {
	t.Parallel()
	queue := stack.Queue{
		URL: "http://queues/1/jobs", ARN: "arn:aws:sqs:us-east-1:1:jobs", Visibility: 30 * time.Second,
	}
	full := stack.SQSEvent{
		BatchSize: 50, Window: 7 * time.Second, MaximumConcurrency: 3, Filters: []string{`{"body":{}}`},
		ReportBatchItemFailures: true, Enabled: true,
	}
	for name, tt := range map[string]struct {
		event stack.SQSEvent
		want  eventsource.Mapping
	}{
		"all that it may say": {full, eventsource.Mapping{
			BatchSize: 50, Window: 7 * time.Second, Concurrency: 3, Filters: []string{`{"body":{}}`},
			ReportBatchItemFailures: true,
		}},
		"nothing": {stack.SQSEvent{BatchSize: 10}, eventsource.Mapping{BatchSize: 10, Concurrency: 5}},
	} {
		tt.want.QueueURL, tt.want.QueueARN, tt.want.Region = queue.URL, queue.ARN, region
		if diff := cmp.Diff(tt.want, mapping(tt.event, time.Second, queue)); diff != "" {
			t.Errorf("%s: mapping (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheBatchingWindowDoesNotEatTheVisibilityTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ window, timeout, visibility, want int }{
		{0, 30, 30, 0}, {5, 25, 30, 0}, {6, 25, 30, 61}, {300, 900, 900, 1230}, {1, 1, 0, 32},
	} {
		seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
		e, queue := stack.SQSEvent{Window: seconds(tt.window)}, stack.Queue{Visibility: seconds(tt.visibility)}
		if got := visibleAfter(e, seconds(tt.timeout), queue); got != seconds(tt.want) {
			t.Errorf("window %d s, timeout %d s, visibility %d s: hidden for %v, want %d s",
				tt.window, tt.timeout, tt.visibility, got, tt.want)
		}
	}
}
