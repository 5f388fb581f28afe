package local

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
)

const (
	// idlePoll is how often the queues of another engine are counted.
	idlePoll = 250 * time.Millisecond
	// idleLooks is how often in a row they must be found empty: the counts are
	// approximate.
	idleLooks = 2
)

// Idle waits until nothing is visible, delayed or in flight outside dead-letter
// queues. It returns the error of ctx if that ends first, or that of another
// engine's.
func (s *Stack) Idle(ctx context.Context) error {
	if s.options.EndpointSQS == "" {
		return s.server.SQS().Idle(ctx)
	}
	ticker := time.NewTicker(idlePoll)
	defer ticker.Stop()
	for looks := 0; looks < idleLooks; {
		empty, err := s.emptyQueues(ctx)
		if err != nil {
			return err
		}
		looks++
		for _, is := range empty {
			if !is {
				looks = 0
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// emptyQueues tells for each queue of another engine, by its name, whether it
// holds nothing. Dead-letter queues do not count, nor does the emulator, which
// tells of each message.
func (s *Stack) emptyQueues(ctx context.Context) (map[string]bool, error) {
	empty := map[string]bool{}
	if s.options.EndpointSQS == "" {
		return empty, nil
	}
	counts := []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	}
	for _, q := range s.template.Queues {
		if _, dead := s.journal.deadLetters[q.Name]; dead {
			continue
		}
		attributes, err := s.attributes(ctx, q.URL, counts...)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("queue %s: %w", q.LogicalID, endpoint.Brief(err))
		}
		empty[q.Name] = true
		for _, n := range attributes {
			empty[q.Name] = empty[q.Name] && n == "0"
		}
	}
	return empty, nil
}
