package replay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Redrive is a move task of SQS, from its start to its end. It is used once, by one
// goroutine.
type Redrive struct {
	Queue *deadletters.Queue
	// Destination is the ARN of the queue that gets the letters.
	Destination string
	// Rate is the maximum number of letters a second, from 1 to 500.
	Rate int
	Who  string
	// Unlocked is called if the lock of the queue is denied, so that nobody else is kept
	// away; nil means no call.
	Unlocked func(denied error)
	// Observe is called after each look at the task; nil means no calls.
	Observe func(*deadletters.Task)
}

// redrivePause is the pause between two looks at a task.
const redrivePause = time.Second

// ErrNoTask says that SQS does not know the task that was started.
var ErrNoTask = errors.New("SQS does not know the redrive that was started")

// Do starts the task and follows it to its end. Its errors are a [*BusyError], [ErrNoTask],
// those of the client, and that of ctx, whose end does not end the task. The task is nil if
// it was not started.
func (r *Redrive) Do(ctx context.Context) (*deadletters.Task, error) {
	lock, err := Acquire(ctx, r.Queue, "redrive-"+time.Now().UTC().Format("20060102T150405"), r.Who)
	if err != nil {
		return nil, err
	}
	if lock.Denied != nil && r.Unlocked != nil {
		r.Unlocked(lock.Denied)
	}
	var task *deadletters.Task
	if err = r.Queue.Redrive(ctx, r.Destination, r.Rate); err == nil {
		task, err = r.follow(ctx, lock)
	}
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	_ = lock.Release(releasing) // it ends by itself
	return task, err
}

func (r *Redrive) follow(ctx context.Context, lock *Lock) (task *deadletters.Task, err error) {
	for {
		last, err := r.Queue.LastTask(ctx)
		if err == nil {
			err = lock.Renew(ctx)
		}
		if err != nil {
			return task, err
		}
		if task = last; task == nil {
			return nil, ErrNoTask
		}
		if r.Observe != nil {
			r.Observe(task)
		}
		if !task.Running() {
			return task, nil
		}
		timer := time.NewTimer(redrivePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return task, ctx.Err()
		}
	}
}

// Destinations returns the ARNs of the source queues, to which a redrive can go. Its errors
// are those of the client.
func Destinations(ctx context.Context, q *deadletters.Queue) ([]string, error) {
	urls, err := q.Sources(ctx)
	if err != nil {
		return nil, err
	}
	arns := make([]string, len(urls))
	for i, url := range urls {
		// A dead-letter queue and its sources are of one account and region.
		arns[i] = strings.TrimSuffix(q.ARN, q.Name) + url[strings.LastIndexByte(url, '/')+1:]
	}
	return arns, nil
}
