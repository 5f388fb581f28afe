package eventsource

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// gather receives one batch. It is empty if a long poll returns no message that
// passes the filters. A batch and an error are returned together if only a
// later receive failed.
func (p *Poller) gather(ctx context.Context) ([]delivery, error) {
	batch, err := p.receive(ctx, p.mapping.BatchSize, longPoll)
	if len(batch) == 0 || err != nil {
		return batch, err
	}
	end, size := time.Now().Add(p.mapping.Window), weight(batch)
	for ctx.Err() == nil && len(batch) < p.mapping.BatchSize && size < maxEvent {
		rest := time.Until(end)
		if rest <= 0 {
			break
		}
		more, err := p.receive(ctx, p.mapping.BatchSize-len(batch), rest)
		batch, size = append(batch, more...), size+weight(more)
		if err != nil {
			return batch, err
		}
	}
	return batch, nil
}

// receive waits in whole seconds, as SQS does, so a batching window can last up
// to one second longer.
func (p *Poller) receive(ctx context.Context, most int, wait time.Duration) ([]delivery, error) {
	seconds := (min(wait, longPoll) + time.Second - 1) / time.Second
	output, err := p.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    aws.String(p.mapping.QueueURL),
		MaxNumberOfMessages:         int32(min(most, maxReceive)),
		WaitTimeSeconds:             int32(seconds),
		VisibilityTimeout:           int32(p.mapping.Visibility / time.Second), // 0 is not sent
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	batch := make([]delivery, 0, len(output.Messages))
	for _, msg := range output.Messages {
		batch = append(batch, p.mapping.delivery(msg))
	}
	return p.applyFilters(ctx, batch), nil
}

func weight(batch []delivery) int {
	size := 0
	for _, d := range batch {
		size += len(d.json)
	}
	return size
}
