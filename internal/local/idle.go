package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

const (
	// idlePoll is how often the queues of another engine are counted.
	idlePoll = 250 * time.Millisecond
	// idleLooks is how often in a row they must be found empty: the counts are
	// approximate.
	idleLooks = 2
)

// Idle waits until nothing is visible, delayed or in flight outside of dead-letter
// queues that no function reads. It returns the error of ctx if that ends first, or
// that of another engine's.
func (s *Stack) Idle(ctx context.Context) error {
	if s.options.EndpointSQS == "" {
		return s.idle(ctx)
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

// idle is Idle for the emulator, which tells when nothing is left outside of
// dead-letter queues. Those that a function reads are looked at afterwards.
func (s *Stack) idle(ctx context.Context) error {
	ticker := time.NewTicker(idlePoll)
	defer ticker.Stop()
	for {
		if err := s.server.SQS().Idle(ctx); err != nil {
			return err
		}
		busy := slices.ContainsFunc(s.server.SQS().Stats(), func(q sqs.QueueStats) bool {
			return (!q.DeadLetter || s.journal.letters[q.Name]) && q.Visible+q.NotVisible+q.Delayed > 0
		})
		if !busy {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// emptyQueues tells for each queue of another engine, by its name, whether it
// holds nothing. Dead-letter queues that no function reads do not count, nor does the emulator, which
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
		if s.journal.resting(q.Name) {
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
