package local

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	maxEntries    = 10
	maxBatchBytes = 1 << 20
)

// Send sends the jobs in order. Copies of one job go out together.
func (s *Stack) Send(ctx context.Context, jobs []Job) error {
	for i := range jobs {
		if err := s.send(ctx, &jobs[i]); err != nil {
			return fmt.Errorf("job %d, to queue %s: %w", i+1, jobs[i].Queue, err)
		}
	}
	return nil
}

func (s *Stack) send(ctx context.Context, j *Job) error {
	queue, _ := s.template.Queue(j.Queue)
	perCall := max(1, min(maxEntries, maxBatchBytes/j.size()))
	for left := j.copies(); left > 0; left -= perCall {
		out, err := s.queues.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{
			QueueUrl: aws.String(queue.URL),
			Entries:  j.entries(min(left, perCall), queue.FIFO),
		})
		if err != nil {
			return err
		}
		for _, failed := range out.Failed {
			return fmt.Errorf("%s: %s", aws.ToString(failed.Code), aws.ToString(failed.Message))
		}
	}
	return nil
}

func (j *Job) entries(n int, fifo bool) []types.SendMessageBatchRequestEntry {
	entries := make([]types.SendMessageBatchRequestEntry, n)
	for i := range entries {
		entries[i] = types.SendMessageBatchRequestEntry{
			Id:                aws.String(strconv.Itoa(i)),
			MessageBody:       aws.String(j.text),
			DelaySeconds:      int32(j.Delay),
			MessageAttributes: j.attributes(),
		}
		if j.Group != "" {
			entries[i].MessageGroupId = aws.String(j.Group)
		}
		if fifo && j.Dedup != "" {
			entries[i].MessageDeduplicationId = aws.String(j.Dedup)
		}
	}
	return entries
}

func (j *Job) attributes() map[string]types.MessageAttributeValue {
	values := map[string]types.MessageAttributeValue{}
	for name, value := range j.Attributes {
		values[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	return values
}

// size is what the job takes of a batch call's limit.
func (j *Job) size() int {
	n := len(j.text)
	for name, value := range j.Attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}
