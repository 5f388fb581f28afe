package sqssend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/queue"
)

// API is what sending needs of SQS; [*sqs.Client] is one.
type API interface {
	SendMessageBatch(
		ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
}

// ErrNotTried says that a message was not sent because an earlier one was not: one of its
// message group in a FIFO queue, or one in a call that failed as a whole.
var ErrNotTried = errors.New("an earlier message was not sent")

// Answer is what SQS said of a message.
type Answer struct {
	// MessageID confirms that the message has arrived; empty if it may not have.
	MessageID string
	// Sequence is the sequence number in a FIFO queue.
	Sequence string
	// Err is a [*queue.EntryError], [handler.ErrUnanswered], one that wraps [ErrNotTried],
	// or the error of the call.
	Err error
}

// Pack sends the messages at these positions, which fit into one call, and sets their
// answers. A message that fails on the side of SQS is sent up to two times more, within
// ctx. The error is that of a call that failed as a whole.
func Pack(
	ctx context.Context, api API, url string, messages []Message, pack []int, answers []Answer,
) (failed error) {
	errs := sqscall.Batch(ctx, pack, func(pack []int) ([]error, error) {
		requests := make([]types.SendMessageBatchRequestEntry, len(pack))
		for position, i := range pack {
			requests[position] = messages[i].Request
			requests[position].Id = aws.String(strconv.Itoa(position))
		}
		out, err := api.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: requests})
		if err != nil {
			failed = err
			return nil, err
		}
		read, errs := read(len(pack), out)
		for position, i := range pack {
			answers[i] = read[position]
		}
		return errs, nil
	})
	for position, i := range pack {
		answers[i].Err = errs[position]
	}
	return failed
}

// read returns the answers of a call for n messages. If one is both successful and failed,
// the failure counts, since a message sent twice is better than one lost.
func read(n int, out *sqs.SendMessageBatchOutput) ([]Answer, []error) {
	answers, errs := make([]Answer, n), make([]error, n)
	for _, entry := range out.Successful {
		if i, ok := sqscall.Position(entry.Id, n); ok {
			answers[i] = Answer{MessageID: aws.ToString(entry.MessageId), Sequence: aws.ToString(entry.SequenceNumber)}
		}
	}
	for _, entry := range out.Failed {
		if i, ok := sqscall.Position(entry.Id, n); ok {
			answers[i], errs[i] = Answer{}, queue.NewEntryError(entry)
		}
	}
	for i := range errs {
		if answers[i].MessageID == "" && errs[i] == nil {
			errs[i] = handler.ErrUnanswered
		}
	}
	return answers, errs
}

// Order says which messages are not sent after an error.
type Order struct {
	// Groups sends the messages of a group one after the other: a call has at most one of
	// each group, and after one that was not confirmed none of its group is sent.
	Groups bool
	// Stop sends nothing more after a call that failed as a whole.
	Stop bool
}

// Send sends the messages in order, one call at a time, and returns an answer for each, at
// the same position. It is safe for concurrent use if api is.
func Send(ctx context.Context, api API, url string, messages []Message, o Order) []Answer {
	answers := make([]Answer, len(messages))
	failed := map[string]error{} // by group, the error of its first message that failed
	var broken error
	for _, pack := range Packs(messages, o.Groups) {
		pack = slices.DeleteFunc(pack, func(i int) bool {
			err := broken
			if before := failed[messages[i].group()]; o.Groups && before != nil {
				err = before
			}
			if err != nil {
				answers[i].Err = fmt.Errorf("%w: %w", ErrNotTried, err)
			}
			return err != nil
		})
		if len(pack) == 0 {
			continue
		}
		if err := Pack(ctx, api, url, messages, pack, answers); o.Stop && err != nil {
			broken = err
		}
		for _, i := range pack {
			if err := answers[i].Err; err != nil {
				failed[messages[i].group()] = err
			}
		}
	}
	return answers
}
