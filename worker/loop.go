package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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
	// receiveTimeout is longer than a long poll of 20 s. Without it a dead connection
	// would block the loop forever.
	receiveTimeout = 30 * time.Second
	// receiveGrace is how long a receive may go on when the worker drains. Messages that
	// SQS has delivered by then would otherwise stay hidden. It is less than the second
	// after which released messages are visible again.
	receiveGrace = 500 * time.Millisecond
)

// loop is one poll loop: a poller's queue and its function.
type loop struct {
	*run
	arn   string
	pulse *pulse
	// receipts are the receipt handles of the last receive, batchSlots are its slots.
	receipts   []string
	batchSlots *batchSlots
}

// ReceiveMessage waits for a slot, receives messages, and starts their heartbeat. When
// the poller calls it again, it has finished with the messages before.
func (l *loop) ReceiveMessage(
	ctx context.Context, in *sqs.ReceiveMessageInput, options ...func(*sqs.Options),
) (out *sqs.ReceiveMessageOutput, err error) {
	l.releaseBatch()
	l.pulse.rest()
	n := l.slots.take(ctx)
	if n == 0 {
		return nil, ctx.Err()
	}
	defer func() {
		var received []types.Message
		if out != nil {
			received = out.Messages
		}
		l.batchSlots = l.slots.received(n, received, strings.HasSuffix(l.arn, ".fifo"))
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

// receiveContext returns a context that ends receiveGrace after ctx, or after
// receiveTimeout.
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

// releaseBatch releases the slots of the last batch, and ends the heartbeat of messages
// that were received but not processed, such as the rest of a FIFO batch after a failure.
func (l *loop) releaseBatch() {
	l.heartbeat.release(l.receipts)
	l.receipts = nil
	l.batchSlots.end()
	l.batchSlots = nil
}

// end is called when the loop has ended.
func (l *loop) end() {
	l.releaseBatch()
	l.pulse.rest()
}

// DeleteMessageBatch deletes the finished messages.
func (l *loop) DeleteMessageBatch(
	ctx context.Context, in *sqs.DeleteMessageBatchInput, options ...func(*sqs.Options),
) (*sqs.DeleteMessageBatchOutput, error) {
	return l.client.DeleteMessageBatch(ctx, in, options...)
}

// Invoke runs a batch. The poller's context never ends. The context of the jobs ends when
// the worker cancels them.
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
	ctx := host.WithEnded(l.jobs, l.batchSlots.ended)
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

// observe logs errors between queue and processor. The processor itself logs the outcomes
// of messages.
func (l *loop) observe(e eventsource.Event) {
	l.pulse.beat()
	text, failed := errorTexts[e.Kind]
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

var errorTexts = map[eventsource.Kind]string{
	eventsource.ReceiveFailed: "receive failed",
	eventsource.DeleteFailed:  "messages not deleted, so they come again",
	eventsource.Failed:        "batch failed, so its messages come again",
	eventsource.Withheld:      "messages of a FIFO batch withheld behind a failed one",
}
