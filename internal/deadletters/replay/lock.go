package replay

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// lockTag is the tag of the queue that names the run that is under way.
const lockTag = "sqsafe:replay"

const (
	// lockTime is how long a lock counts after it was set or renewed.
	lockTime = 2 * time.Minute
	// lockSettle is how long a lock waits before it looks whether it stands: of two that
	// are set at once the later one does.
	lockSettle = 500 * time.Millisecond
)

// BusyError says that another replay of the queue is under way.
type BusyError struct {
	// Run is the other run, Who started it, and Until is when its lock ends if it does not
	// go on. They are empty for a move task of SQS.
	Run, Who string
	Until    time.Time
}

// Error names the run and the remedy.
func (e *BusyError) Error() string {
	if e.Run == "" {
		return "SQS moves letters of this queue: a redrive is under way; wait for its end, or cancel it"
	}
	return fmt.Sprintf("replay %s of this queue is under way, by %s; wait for its end. If it was killed, "+
		"its lock ends at %s", e.Run, e.Who, e.Until.UTC().Format(time.RFC3339))
}

// Lock says to others that a replay of the queue is under way. It is a tag of the queue, so
// it counts on all machines; two runs that start in the same moment may miss each other,
// and then hold different letters.
type Lock struct {
	queue    *deadletters.Queue
	run, who string
	// Denied says that tags cannot be read or written, so that nobody is kept away.
	Denied error
	until  time.Time
}

// Acquire locks the queue for the run. Its errors are a [*BusyError] and those of the
// client.
func Acquire(ctx context.Context, q *deadletters.Queue, run, who string) (*Lock, error) {
	l := &Lock{queue: q, run: run, who: tagText(who)}
	if err := l.moving(ctx); err != nil {
		return nil, err
	}
	if err := l.set(ctx); err != nil {
		return nil, err
	}
	if l.denied() {
		return l, nil
	}
	timer := time.NewTimer(lockSettle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return l, l.look(ctx)
}

// UnderWay returns the replay or the redrive of the queue that is under way; nil if there is
// none, or if the credentials may not see it. Its error is that of the client.
func UnderWay(ctx context.Context, q *deadletters.Queue) (*BusyError, error) {
	l := &Lock{queue: q}
	err := l.moving(ctx)
	if err == nil {
		err = l.look(ctx)
	}
	if busy, ok := errors.AsType[*BusyError](err); ok {
		return busy, nil
	}
	return nil, err
}

// moving returns an error if SQS itself moves letters of the queue.
func (l *Lock) moving(ctx context.Context) error {
	out, err := l.queue.Client().ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &l.queue.ARN})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorFault() != smithy.FaultServer {
		return nil // not allowed, not known to the server, or no dead-letter queue
	}
	if err != nil {
		return err
	}
	for _, task := range out.Results {
		if aws.ToString(task.Status) == "RUNNING" {
			return &BusyError{}
		}
	}
	return nil
}

func (l *Lock) denied() bool { return l.Denied != nil }

// Renew keeps the lock for longer. Its errors are a [*BusyError], if another run has the
// lock meanwhile, and those of the client.
func (l *Lock) Renew(ctx context.Context) error {
	if l.denied() || time.Until(l.until) > lockTime/2 {
		return nil
	}
	return l.set(ctx)
}

func (l *Lock) set(ctx context.Context) error {
	if err := l.look(ctx); err != nil || l.denied() {
		return err
	}
	l.until = time.Now().Add(lockTime)
	_, err := l.queue.Client().TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: &l.queue.URL, Tags: map[string]string{
		lockTag: fmt.Sprintf("%s %d %s", l.run, l.until.Unix(), l.who),
	}})
	return l.unless(err)
}

// look returns an error if another run has the lock.
func (l *Lock) look(ctx context.Context) error {
	out, err := l.queue.Client().ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &l.queue.URL})
	if err = l.unless(err); err != nil || l.denied() {
		return err
	}
	run, rest, _ := strings.Cut(out.Tags[lockTag], " ")
	end, who, _ := strings.Cut(rest, " ")
	seconds, _ := strconv.ParseInt(end, 10, 64) // what is no lock has ended
	if run == l.run || time.Now().Unix() >= seconds {
		return nil
	}
	return &BusyError{Run: run, Who: who, Until: time.Unix(seconds, 0)}
}

// unless notes an error that says that the server has no tags for us, which is no reason
// not to replay.
func (l *Lock) unless(err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if ok && api.ErrorFault() != smithy.FaultServer && !errors.As(err, new(*types.QueueDoesNotExist)) &&
		!strings.Contains(api.ErrorCode(), "Throttl") {
		l.Denied = err
		return nil
	}
	return err
}

// Release removes the lock.
func (l *Lock) Release(ctx context.Context) error {
	if l.denied() {
		return nil
	}
	if err := l.look(ctx); err != nil {
		return err
	}
	_, err := l.queue.Client().UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: &l.queue.URL, TagKeys: []string{lockTag}})
	return err
}

// tagText returns a text with the characters that tags may have.
func tagText(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:/=+-@", r) {
			return r
		}
		return '_'
	}, s)
	return clean[:min(len(clean), 100)]
}
