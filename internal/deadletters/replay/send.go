package replay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/queue"
)

// ErrUnconfirmed says that it is not known whether a message was sent.
var ErrUnconfirmed = errors.New("it is not known whether it was sent")

// Answer is what became of a message.
type Answer struct {
	// MessageID and Sequence are those of the message that SQS confirmed.
	MessageID, Sequence string
	// Err is nil for a confirmed message. It wraps [ErrUnconfirmed] if the message may have
	// been sent; with any other error it was not.
	Err error
}

// Send sends messages in one call, and confirms each by its id and its checksums. It does
// not repeat a call whose answer was lost: that might send a message twice.
func Send(
	ctx context.Context, client *sqs.Client, url string, entries []types.SendMessageBatchRequestEntry,
) []Answer {
	answers := make([]Answer, len(entries))
	positions := make([]int, len(entries))
	for i := range positions {
		positions[i] = i
	}
	errs := sqscall.Batch(ctx, positions, func(pack []int) ([]error, error) {
		asked := make([]types.SendMessageBatchRequestEntry, len(pack))
		for at, i := range pack {
			asked[at] = entries[i]
			asked[at].Id = aws.String(strconv.Itoa(at))
		}
		out, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: asked}, onlyOnce)
		if err != nil {
			return nil, uncertain(err)
		}
		errs := make([]error, len(pack))
		for at, i := range pack {
			answers[i], errs[at] = confirm(out, at, &entries[i])
		}
		return errs, nil
	})
	for i, err := range errs {
		if answers[i].Err = err; err != nil {
			answers[i].MessageID = ""
		}
	}
	return answers
}

// onlyOnce repeats a call only if SQS has certainly not taken it.
func onlyOnce(o *sqs.Options) {
	o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
		r.MaxAttempts = 5
		r.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}
	})
}

// uncertain marks the error of a call unless it says that SQS refused the call.
func uncertain(err error) error {
	response, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	if ok && response.HTTPStatusCode()/100 == 4 || notSent(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
}

// notSent reports whether the connection was never made, so that nothing was sent.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// confirm reads what the answer says of an entry.
func confirm(out *sqs.SendMessageBatchOutput, at int, e *types.SendMessageBatchRequestEntry) (Answer, error) {
	id := strconv.Itoa(at)
	for _, failed := range out.Failed {
		if aws.ToString(failed.Id) == id {
			return Answer{}, queue.NewEntryError(failed)
		}
	}
	for _, sent := range out.Successful {
		if aws.ToString(sent.Id) != id {
			continue
		}
		a := Answer{MessageID: aws.ToString(sent.MessageId), Sequence: aws.ToString(sent.SequenceNumber)}
		switch {
		case a.MessageID == "":
			return a, fmt.Errorf("%w: the answer has no message id", ErrUnconfirmed)
		case aws.ToString(sent.MD5OfMessageBody) != deadletters.BodyDigest(*e.MessageBody):
			return a, fmt.Errorf("%w as it is: the checksum of the body differs", ErrUnconfirmed)
		case aws.ToString(sent.MD5OfMessageAttributes) != deadletters.AttributesDigest(e.MessageAttributes):
			return a, fmt.Errorf("%w as it is: the checksum of the attributes differs", ErrUnconfirmed)
		}
		return a, nil
	}
	return Answer{}, fmt.Errorf("%w: the answer does not mention it", ErrUnconfirmed)
}

// isEntry reports whether the error is about one message, and not about the call.
func isEntry(err error) bool {
	_, ok := errors.AsType[*queue.EntryError](err)
	return ok
}
