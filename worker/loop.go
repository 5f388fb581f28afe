package worker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/host"
)

const (
	// receiveTimeout is more than a long poll of 20 s takes. A connection that
	// has died would hold the loop forever.
	receiveTimeout = 30 * time.Second
	// receiveGrace is how long a receive may go on when the worker drains: what
	// SQS has handed out by then would else stay hidden for nothing. It is less
	// than the second after which released messages are visible again.
	receiveGrace = 500 * time.Millisecond
)

// loop is one poll loop: a poller's queue and its function.
type loop struct {
	*run
	arn   string
	pulse *pulse
	// receipts are those of the last receive, and share is what it has of the slots.
	receipts []string
	share    *share
}

// ReceiveMessage waits for a slot, and receives and holds what comes. By the time it is
// called again, the poller is through with what came before.
func (l *loop) ReceiveMessage(
	ctx context.Context, in *sqs.ReceiveMessageInput, options ...func(*sqs.Options),
) (out *sqs.ReceiveMessageOutput, err error) {
	l.letGo()
	l.pulse.rest()
	n := l.slots.take(ctx)
	if n == 0 {
		return nil, ctx.Err()
	}
	defer func() {
		received := 0
		if out != nil {
			received = len(out.Messages)
		}
		l.share = l.slots.received(n, received)
	}()
	in.MaxNumberOfMessages = int32(l.slots.batchSize(n))
	l.pulse.beat()
	defer l.pulse.beat()
	ctx, cancel := receiveContext(ctx)
	defer cancel()
	out, err = l.client.ReceiveMessage(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	l.health.received.Store(true)
	for _, m := range out.Messages {
		l.hold(m)
	}
	return out, nil
}

// receiveContext ends a while after ctx, or when the receive takes too long.
func receiveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	receiving, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiveTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(receiveGrace, cancel) })
	return receiving, func() {
		stop()
		cancel()
	}
}

func (l *loop) hold(m types.Message) {
	held := &handler.Message{}
	held.MessageId, held.ReceiptHandle = aws.ToString(m.MessageId), aws.ToString(m.ReceiptHandle)
	held.EventSourceARN = l.arn
	l.heartbeat.hold(held)
	l.receipts = append(l.receipts, held.ReceiptHandle)
}

// letGo gives back the slots of the last batch, and ends the heartbeat of what was
// received but never handed over, such as the rest of a FIFO batch that failed.
func (l *loop) letGo() {
	l.heartbeat.release(l.receipts)
	l.receipts = nil
	l.share.end()
	l.share = nil
}

// end is what the loop leaves in order.
func (l *loop) end() {
	l.letGo()
	l.pulse.rest()
}

// DeleteMessageBatch deletes what is done.
func (l *loop) DeleteMessageBatch(
	ctx context.Context, in *sqs.DeleteMessageBatchInput, options ...func(*sqs.Options),
) (*sqs.DeleteMessageBatchOutput, error) {
	return l.client.DeleteMessageBatch(ctx, in, options...)
}

// Invoke runs a batch. The poller's context never ends; a job's does when the
// worker cuts it off.
func (l *loop) Invoke(_ context.Context, event []byte) ([]byte, error) {
	var batch events.SQSEvent
	if err := json.Unmarshal(event, &batch); err != nil {
		return nil, err
	}
	l.pulse.rest()
	defer l.pulse.beat()
	response, err := l.handle(batch)
	l.heartbeat.release(receipts(batch))
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}

// handle turns a panic of the processor into an error, and the end of the run.
func (l *loop) handle(batch events.SQSEvent) (response events.SQSEventResponse, err error) {
	ctx, cancel := l.batchContext()
	defer cancel()
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if value == nil {
			value = errGoexit
		}
		err = l.fail(value)
	}()
	response, err = l.processor.Handle(ctx, batch)
	returned = true
	return response, err
}

func (l *loop) batchContext() (context.Context, context.CancelFunc) {
	ctx := host.WithEnded(l.jobs, l.share.ended)
	if l.options.BatchTimeout > 0 {
		return context.WithTimeout(ctx, l.options.BatchTimeout)
	}
	return context.WithCancel(ctx)
}

func receipts(batch events.SQSEvent) []string {
	list := make([]string, len(batch.Records))
	for i := range batch.Records {
		list[i] = batch.Records[i].ReceiptHandle
	}
	return list
}

var errGoexit = errors.New("runtime.Goexit called by the handler")

// observe logs what goes wrong between queue and processor. What becomes of
// messages the processor has logged.
func (l *loop) observe(e eventsource.Event) {
	l.pulse.beat()
	text, failed := troubles[e.Kind]
	if !failed {
		return
	}
	attrs := []any{"messages", len(e.Messages)}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err.Error())
	}
	if e.Pause > 0 {
		attrs = append(attrs, "pauseSeconds", e.Pause.Seconds())
	}
	l.options.Logger.Error(text, attrs...)
}

var troubles = map[eventsource.Kind]string{
	eventsource.ReceiveFailed: "receive failed",
	eventsource.DeleteFailed:  "messages not deleted, so they come again",
	eventsource.Failed:        "batch failed, so its messages come again",
	eventsource.Withheld:      "messages of a FIFO batch withheld behind a failed one",
}
