//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
)

// mail is what the campaign sends and finds, past the proxy.
type mail struct {
	client   *sqs.Client
	endpoint string
}

func (m mail) url(queue string) *string {
	return aws.String(m.endpoint + "/" + awsAccount + "/" + queue)
}

// send sends a job at its time, and its copies at theirs, until ctx ends.
func (m mail) send(ctx context.Context, start time.Time, jobs []*job) error {
	type sending struct {
		at time.Duration
		*job
	}
	var all []sending
	for _, j := range jobs {
		all = append(all, sending{j.at, j})
		for _, after := range j.copies {
			all = append(all, sending{j.at + after, j})
		}
	}
	slices.SortStableFunc(all, func(a, b sending) int { return cmp.Compare(a.at, b.at) })
	for _, s := range all {
		if !sleepUntil(ctx, start.Add(s.at)) {
			return ctx.Err()
		}
		in := &sqs.SendMessageInput{QueueUrl: m.url(s.queue.name()), MessageBody: aws.String(s.body())}
		if s.queue.fifo {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(s.group), aws.String(s.id)
		}
		if _, err := m.client.SendMessage(ctx, in); err != nil {
			return fmt.Errorf("sending %s: %w", s.id, err)
		}
	}
	return nil
}

// sleepUntil reports whether ctx lasted.
func sleepUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-time.After(time.Until(at)):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// letter is a dead letter.
type letter struct {
	Queue string `json:"queue"`
	ID    string `json:"id"`
	Body  string `json:"body"`
	// Reason is that of its record; Wrong says why there is none.
	Reason string `json:"reason,omitempty"`
	Wrong  string `json:"wrong,omitempty"`
}

// letters empties the dead-letter queues.
func (m mail) letters(ctx context.Context) ([]letter, error) {
	var all []letter
	for _, q := range queues {
		for {
			out, err := m.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
				QueueUrl: m.url(q.dead()), MaxNumberOfMessages: 10, VisibilityTimeout: 600,
				MessageAttributeNames: []string{"All"},
			})
			if err != nil {
				return nil, err
			}
			if len(out.Messages) == 0 {
				break
			}
			for _, message := range out.Messages {
				all = append(all, newLetter(q, message))
			}
			if err := m.remove(ctx, q, out.Messages); err != nil { // a FIFO group goes on then
				return nil, err
			}
		}
	}
	return all, nil
}

func (m mail) remove(ctx context.Context, q *queue, messages []types.Message) error {
	for _, message := range messages {
		in := &sqs.DeleteMessageInput{QueueUrl: m.url(q.dead()), ReceiptHandle: message.ReceiptHandle}
		if _, err := m.client.DeleteMessage(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

func newLetter(q *queue, m types.Message) letter {
	l := letter{Queue: q.name(), ID: aws.ToString(m.MessageId), Body: aws.ToString(m.Body)}
	record, err := dlq.Open(m)
	if err != nil {
		l.Wrong = err.Error()
		return l
	}
	l.Reason = record.Reason
	return l
}
