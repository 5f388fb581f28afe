package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/jobid"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// API has the method of DynamoDB that a [Ledger] calls; [*dynamodb.Client] has it. The role needs
// dynamodb:GetItem on the table.
type API interface {
	GetItem(
		ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options),
	) (*dynamodb.GetItemOutput, error)
}

// Ledger reads the jobs of one queue. It is safe for concurrent use.
type Ledger struct {
	api          API
	table, queue string
}

// New returns the Ledger for the jobs of a queue, which is given by its name, URL or ARN:
// the queue that the consumer reads. Table is the name of the ledger's table. The error
// names what is missing.
func New(api API, table, queue string) (*Ledger, error) {
	if client, isClient := api.(*dynamodb.Client); api == nil || isClient && client == nil {
		return nil, errors.New("jobs.New: the client is nil; give it one, such as dynamodb.NewFromConfig(cfg)")
	}
	if table == "" {
		return nil, errors.New("jobs.New: the table has no name; give the name of the ledger's table")
	}
	name := queue[strings.LastIndexAny(queue, ":/")+1:]
	if name == "" {
		return nil, fmt.Errorf("jobs.New: queue %q names no queue; give its name, URL or ARN", queue)
	}
	return &Ledger{api, table, name}, nil
}

// Status returns what the ledger knows of the job with this key at present. It is one
// consistent read. Its errors are those of the client; a job that the ledger does not have
// is [Unknown], and no error.
func (l *Ledger) Status(ctx context.Context, key string) (Status, error) {
	out, err := l.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &l.table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			partitionKey: &types.AttributeValueMemberS{Value: jobid.Of(l.queue, key)},
		},
	})
	if err != nil {
		return Status{Key: key, State: Unknown}, fmt.Errorf("jobs: job %.200q of queue %s: %w", key, l.queue, err)
	}
	if out.Item == nil {
		return statusOf(key, nil, time.Time{}), nil
	}
	e := ledger.Decode(partitionKey, out.Item)
	return statusOf(key, &e, time.Now()), nil
}

// partitionKey is the key of the table, see package idem/dynamo.
const partitionKey = "id"

// WaitOptions are the settings of [Ledger.Wait]. The zero value works.
type WaitOptions struct {
	// Interval is the longest time between two reads; 0 means 5 s. The first reads follow
	// each other faster, from a quarter of a second on. A read costs one read unit for each
	// 4 KB of the job's item.
	Interval time.Duration
	// Epoch is the least epoch whose end counts: for the job of a dead letter that was sent
	// back, its Epoch at its death plus 1. With 0 the death of a job ends the wait even if
	// the job is about to be started again.
	Epoch int
	// Observe is called with the first status, and with each that differs from the one
	// before, on the goroutine of Wait; nil for no calls.
	Observe func(Status)
}

const (
	firstInterval   = 250 * time.Millisecond
	defaultInterval = 5 * time.Second
)

// Wait reads the job until it is done or dead, and returns its status. It waits through
// everything that is not the end: a job that is not in the ledger yet, failed attempts, and
// a process that dies. It also goes on while reads fail for a reason that may pass, such as
// throttling. So give ctx a deadline.
//
// When ctx ends, Wait returns the last status that it has seen, and a [*WaitError]. Other
// errors are those of the client that do not pass without a correction, such as a table
// that does not exist. A dead job is no error. o may be nil.
func (l *Ledger) Wait(ctx context.Context, key string, o *WaitOptions) (Status, error) {
	if o == nil {
		o = &WaitOptions{}
	}
	last := Status{Key: key, State: Unknown}
	longest := o.Interval
	if longest <= 0 {
		longest = defaultInterval
	}
	pause := min(firstInterval, longest)
	var read error
	for first := true; ; first = false {
		status, err := l.Status(ctx, key)
		if ctx.Err() != nil {
			return last, ended(ctx, last, read)
		}
		switch read = err; {
		case err != nil && !mayPass(ctx, err):
			return last, err
		case err == nil:
			if o.Observe != nil && (first || status != last) {
				o.Observe(status)
			}
			if last = status; status.State.Ended() && status.Epoch >= o.Epoch {
				return status, nil
			}
		}
		if !sleep(ctx, pause) {
			return last, ended(ctx, last, read)
		}
		pause = min(2*pause, longest)
	}
}

// mayPass reports whether the table can perhaps be read later without a change by a person.
func mayPass(ctx context.Context, err error) bool {
	d := fault.Classify(ctx, err)
	return d.Class == fault.ClassRetryable && d.Reason != fault.ReasonEnvironment
}

// WaitError says that a wait ended before the job did.
type WaitError struct {
	// Status is the last status that was seen.
	Status Status
	// Err is why the wait ended: the cause of its context's end.
	Err error
	// Read is the error of the last read; nil if it succeeded.
	Read error
}

// Error names the job, its last state, and why the wait ended.
func (e *WaitError) Error() string {
	text := fmt.Sprintf("jobs: job %.200q is %s: %v", e.Status.Key, e.Status.State, e.Err)
	if e.Read != nil {
		text += "; the last read failed: " + e.Read.Error()
	}
	return text
}

// Unwrap returns both errors.
func (e *WaitError) Unwrap() []error {
	if e.Read == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Read}
}

// ended returns the error of a wait that ctx has ended. Read is the error of the last
// read that had its time.
func ended(ctx context.Context, last Status, read error) error {
	return &WaitError{Status: last, Err: context.Cause(ctx), Read: read}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
