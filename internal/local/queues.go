package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/redact"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// site is where the queues of a template are.
type site struct {
	region, account string
	urls            map[string]string // by the queue's name
}

// createQueues makes the template's queues.
func (s *Stack) createQueues(ctx context.Context) error {
	if s.options.EndpointSQS != "" {
		return s.adoptQueues(ctx)
	}
	for _, q := range targetsFirst(s.template) {
		_, err := s.queues.CreateQueue(ctx, &sqs.CreateQueueInput{
			QueueName: aws.String(q.Name), Attributes: q.Attributes,
		})
		if err != nil {
			return fmt.Errorf("queue %s: %w", q.LogicalID, endpoint.Brief(err))
		}
	}
	return nil
}

// targetsFirst orders queues such that a dead-letter queue exists before a
// redrive policy names it.
func targetsFirst(s *stack.Stack) []stack.Queue {
	var ordered []stack.Queue
	seen := map[string]bool{}
	var visit func(q stack.Queue)
	visit = func(q stack.Queue) {
		if seen[q.LogicalID] {
			return
		}
		seen[q.LogicalID] = true
		if target, ok := s.Queue(q.DeadLetterQueue); ok {
			visit(target)
		}
		ordered = append(ordered, q)
	}
	for _, q := range s.Queues {
		visit(q)
	}
	return ordered
}

// adoptQueues finds the template's queues in another engine and makes those
// that are missing. Only then are their URLs and their account known, which the
// template's policies and the functions' variables name.
func (s *Stack) adoptQueues(ctx context.Context) error {
	at := site{urls: map[string]string{}}
	made := map[string]bool{}
	for _, q := range s.template.Queues {
		if err := s.find(ctx, q, &at, made); err != nil {
			return errors.Join(fmt.Errorf("queue %s: %w", q.LogicalID,
				unreachable(err, s.options.EndpointSQS, "--endpoint-sqs")), s.remove(ctx, at, made))
		}
	}
	template, err := s.readTemplate(at)
	if err != nil {
		return err
	}
	s.template = template
	for _, q := range targetsFirst(s.template) {
		if err := s.agree(ctx, q, made[q.Name]); err != nil {
			return errors.Join(fmt.Errorf("queue %s: %w", q.LogicalID, err), s.remove(ctx, at, made))
		}
	}
	return nil
}

// find notes where the queue is, after making it if need be.
func (s *Stack) find(ctx context.Context, q stack.Queue, at *site, made map[string]bool) error {
	found, err := s.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(q.Name)})
	if missing, ok := errors.AsType[*types.QueueDoesNotExist](err); ok && missing != nil {
		in := &sqs.CreateQueueInput{QueueName: aws.String(q.Name)}
		if q.FIFO {
			in.Attributes = map[string]string{"FifoQueue": "true"}
		}
		created, err := s.queues.CreateQueue(ctx, in)
		if err != nil {
			return err
		}
		at.urls[q.Name], made[q.Name] = aws.ToString(created.QueueUrl), true
	} else if err != nil {
		return err
	} else {
		at.urls[q.Name] = aws.ToString(found.QueueUrl)
	}
	attributes, err := s.attributes(ctx, at.urls[q.Name], types.QueueAttributeNameQueueArn)
	if err != nil {
		return err
	}
	part := strings.Split(attributes["QueueArn"], ":")
	if len(part) != 6 {
		return fmt.Errorf("the engine gives the queue the ARN %q", attributes["QueueArn"])
	}
	at.region, at.account = part[3], part[4]
	return nil
}

// agree gives a new queue its attributes, and compares those of one that was there.
func (s *Stack) agree(ctx context.Context, q stack.Queue, isNew bool) error {
	wanted := maps.Clone(q.Attributes)
	delete(wanted, "FifoQueue") // the name says it, and it cannot be set
	if len(wanted) == 0 {
		return nil
	}
	if isNew {
		_, err := s.queues.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
			QueueUrl: aws.String(q.URL), Attributes: wanted,
		})
		if err != nil {
			return endpoint.Brief(err)
		}
		return nil
	}
	there, err := s.attributes(ctx, q.URL, types.QueueAttributeNameAll)
	if err != nil {
		return endpoint.Brief(err)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch value, known := there[name]; {
		case !known && strings.HasSuffix(name, "Policy"):
			return fmt.Errorf("it exists at %s without the %s of the template; delete it there, or give it one",
				redact.URL(s.options.EndpointSQS), name)
		case !known:
			s.note(fmt.Sprintf("queue %s: the engine does not tell its %s", q.LogicalID, name))
		case !sameAttribute(value, wanted[name]):
			return fmt.Errorf("it exists at %s with %s %s, and the template says %s; delete it there, or make them the same",
				redact.URL(s.options.EndpointSQS), name, value, wanted[name])
		}
	}
	return nil
}

// sameAttribute compares values, JSON by what it says.
func sameAttribute(a, b string) bool {
	return a == b || canonical(a) == canonical(b)
}

// canonical is a policy with its members in order. Engines write the maximum
// receive count as a number or as text.
func canonical(policy string) string {
	var members map[string]any
	if json.Unmarshal([]byte(policy), &members) != nil {
		return policy
	}
	return fmt.Sprint(members)
}

// remove deletes queues that were made for a stack that cannot start.
func (s *Stack) remove(ctx context.Context, at site, made map[string]bool) error {
	for name := range made {
		_, err := s.queues.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: aws.String(at.urls[name])})
		if err != nil {
			return fmt.Errorf("queue %s, which was made a moment ago, stays there: %w", name, endpoint.Brief(err))
		}
	}
	return nil
}

func (s *Stack) attributes(
	ctx context.Context, url string, names ...types.QueueAttributeName,
) (map[string]string, error) {
	out, err := s.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(url), AttributeNames: names,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}
