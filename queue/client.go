package queue

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// API has the methods of SQS that a [Client] calls; [*sqs.Client] has them.
type API interface {
	ChangeMessageVisibilityBatch(
		ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, options ...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	DeleteMessageBatch(
		ctx context.Context, in *sqs.DeleteMessageBatchInput, options ...func(*sqs.Options),
	) (*sqs.DeleteMessageBatchOutput, error)
}

// Options are the settings of a [Client]. The zero value works.
type Options struct {
	// Endpoint is the URL of the client's own endpoint where it has one, such as
	// "http://127.0.0.1:4570"; empty for AWS.
	Endpoint string
	// Concurrency is how many calls run at a time, at least 1; 0 means 4.
	Concurrency int
	// Logger gets one warning for each queue whose visibility timeouts may not be
	// changed, see [ErrDenied]; nil means [slog.Default].
	Logger *slog.Logger
}

// Client changes and deletes messages of source queues. It is safe for concurrent use.
type Client struct {
	api         API
	endpoint    string
	concurrency int
	denials     denials
}

var _ handler.Queue = (*Client)(nil)

// New returns a Client; nil options mean the defaults. The error names what is
// wrong with api or an option.
func New(api API, o *Options) (*Client, error) {
	if o == nil {
		o = &Options{}
	}
	if err := sqscall.CheckClient(api); err != nil {
		return nil, fmt.Errorf("queue.New: %w", err)
	}
	if o.Endpoint != "" {
		if _, err := sqscall.ParseURL(o.Endpoint); err != nil {
			return nil, fmt.Errorf("queue.New: Endpoint: %w", err)
		}
	}
	if o.Concurrency < 0 {
		return nil, fmt.Errorf("queue.New: Concurrency is %d, want at least 1, or 0 for 4", o.Concurrency)
	}
	c := &Client{api: api, endpoint: o.Endpoint, concurrency: cmp.Or(o.Concurrency, 4)}
	c.denials.logger = cmp.Or(o.Logger, slog.Default())
	return c, nil
}

// ChangeVisibility applies the changes and sets Done or Err of each. Err is an
// [*EntryError], [handler.ErrUnanswered], [ErrDenied], or the error of the call with the
// change. Timeouts are rounded up to whole seconds. An entry that fails because of SQS is
// retried up to two times, within ctx.
func (c *Client) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	round := c.denials.begin()
	arnOf := func(i int) string { return changes[i].Message.EventSourceARN }
	errs := c.eachPack(ctx, len(changes), arnOf, func(url string, members []int) ([]error, error) {
		if err := c.denials.current(url); err != nil {
			return nil, err
		}
		entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(members))
		for position, i := range members {
			entries[position] = types.ChangeMessageVisibilityBatchRequestEntry{
				Id:                aws.String(strconv.Itoa(position)),
				ReceiptHandle:     aws.String(changes[i].Message.ReceiptHandle),
				VisibilityTimeout: wholeSeconds(changes[i].Timeout),
			}
		}
		out, err := c.api.ChangeMessageVisibilityBatch(ctx,
			&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: entries})
		if err != nil {
			return nil, c.denials.note(url, round, err)
		}
		c.denials.allowed(url)
		var succeeded []*string
		for _, entry := range out.Successful {
			succeeded = append(succeeded, entry.Id)
		}
		return answers(len(members), succeeded, out.Failed), nil
	})
	for i, err := range errs {
		changes[i].Done, changes[i].Err = err == nil, err
	}
}

// Delete deletes the messages and sets Done or Err of each. Errors and retries are those
// of [Client.ChangeVisibility], except [ErrDenied].
func (c *Client) Delete(ctx context.Context, deletions []handler.Deletion) {
	arnOf := func(i int) string { return deletions[i].Message.EventSourceARN }
	errs := c.eachPack(ctx, len(deletions), arnOf, func(url string, members []int) ([]error, error) {
		entries := make([]types.DeleteMessageBatchRequestEntry, len(members))
		for position, i := range members {
			entries[position] = types.DeleteMessageBatchRequestEntry{
				Id:            aws.String(strconv.Itoa(position)),
				ReceiptHandle: aws.String(deletions[i].Message.ReceiptHandle),
			}
		}
		out, err := c.api.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: entries})
		if err != nil {
			return nil, err
		}
		var succeeded []*string
		for _, entry := range out.Successful {
			succeeded = append(succeeded, entry.Id)
		}
		return answers(len(members), succeeded, out.Failed), nil
	})
	for i, err := range errs {
		deletions[i].Done, deletions[i].Err = err == nil, err
	}
}

func wholeSeconds(d time.Duration) int32 {
	return int32((d + time.Second - 1) / time.Second)
}
