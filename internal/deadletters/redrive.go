package deadletters

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// TaskCompleted is the status of a task that has moved all messages.
const TaskCompleted = "COMPLETED"

// Task is a message move task of SQS, as far as SQS tells.
type Task struct {
	// Status is RUNNING, COMPLETED, CANCELLING, CANCELLED or FAILED.
	Status string `json:"status"`
	// Moved and ToMove are about how many messages were moved, and how many there were at
	// the start.
	Moved  int64 `json:"moved"`
	ToMove int64 `json:"toMove"`
	// Failure says why a task failed.
	Failure string `json:"failure,omitempty"`
	// Destination is an ARN; empty for each message's own source.
	Destination string    `json:"destination,omitempty"`
	Started     time.Time `json:"started"`

	handle string
}

// Running reports whether the task goes on.
func (t *Task) Running() bool { return t.Status == "RUNNING" || t.Status == "CANCELLING" }

// LastTask returns the newest move task of the queue; nil if there was none. Its errors are
// those of the client.
func (q *Queue) LastTask(ctx context.Context) (*Task, error) {
	out, err := q.client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{
		SourceArn: &q.ARN, MaxResults: aws.Int32(1),
	})
	if err != nil || len(out.Results) == 0 {
		return nil, err
	}
	t := &out.Results[0]
	return &Task{
		Status: aws.ToString(t.Status), Moved: t.ApproximateNumberOfMessagesMoved,
		ToMove: aws.ToInt64(t.ApproximateNumberOfMessagesToMove), Failure: aws.ToString(t.FailureReason),
		Destination: aws.ToString(t.DestinationArn), Started: time.UnixMilli(t.StartedTimestamp).UTC(),
		handle: aws.ToString(t.TaskHandle),
	}, nil
}

// Redrive starts a move task: all messages of the queue go to the destination, at most rate
// of them in a second, from 1 to 500; 0 leaves it to SQS. Its errors are those of the client.
func (q *Queue) Redrive(ctx context.Context, destination string, rate int) error {
	in := &sqs.StartMessageMoveTaskInput{SourceArn: &q.ARN, DestinationArn: &destination}
	if rate > 0 {
		in.MaxNumberOfMessagesPerSecond = aws.Int32(int32(rate))
	}
	_, err := q.client.StartMessageMoveTask(ctx, in)
	return err
}

// CancelTask cancels a running task. What was moved stays where it is. Its errors are those
// of the client.
func (q *Queue) CancelTask(ctx context.Context, t *Task) error {
	_, err := q.client.CancelMessageMoveTask(ctx, &sqs.CancelMessageMoveTaskInput{TaskHandle: &t.handle})
	return err
}
