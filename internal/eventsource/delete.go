package eventsource

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	maxDeleteBatch  = 10 // entries per call (SQS limit)
	deleteAttempts  = 3  // calls for an entry that SQS failed to delete
	deletePause     = 200 * time.Millisecond
	deleteTimeLimit = 30 * time.Second // for one call, including the client's retries
)

// delete deletes messages and reports whether all of them were deleted.
func (p *Poller) delete(ctx context.Context, done []delivery) bool {
	all := true
	for chunk := range slices.Chunk(done, maxDeleteBatch) {
		all = p.deleteChunk(ctx, chunk) && all
	}
	return all
}

// deleteChunk repeats the call for entries that failed on the side of SQS. It
// does not repeat a call that failed as a whole: the client has already retried
// it.
func (p *Poller) deleteChunk(ctx context.Context, chunk []delivery) bool {
	gone := true
	for attempt := 1; ; attempt++ {
		failures, err := p.callDelete(ctx, chunk)
		if err != nil {
			p.observe(Event{Kind: DeleteFailed, Err: err}, chunk)
			return false
		}
		var deleted, again []delivery
		for i, d := range chunk {
			switch f := failures[i]; {
			case f == nil:
				deleted = append(deleted, d)
			case f.senderFault || attempt == deleteAttempts:
				gone = false
				p.observe(Event{Kind: DeleteFailed, Err: f}, chunk[i:i+1])
			default:
				again = append(again, d)
			}
		}
		if len(deleted) > 0 {
			p.observe(Event{Kind: Deleted}, deleted)
		}
		if len(again) == 0 {
			return gone
		}
		chunk = again
		sleep(ctx, deletePause<<(attempt-1))
	}
}

// callDelete returns the failure of each entry of the chunk by position, nil if
// the message was deleted.
func (p *Poller) callDelete(ctx context.Context, chunk []delivery) ([]*deleteError, error) {
	ctx, cancel := context.WithTimeout(ctx, deleteTimeLimit)
	defer cancel()
	input := &sqs.DeleteMessageBatchInput{QueueUrl: aws.String(p.mapping.QueueURL)}
	failures := make([]*deleteError, len(chunk))
	for i, d := range chunk {
		input.Entries = append(input.Entries, types.DeleteMessageBatchRequestEntry{
			Id:            aws.String(strconv.Itoa(i)),
			ReceiptHandle: aws.String(d.receipt),
		})
		failures[i] = &deleteError{message: "SQS gave no result for it"}
	}
	output, err := p.api.DeleteMessageBatch(ctx, input)
	if err != nil {
		return nil, err
	}
	for _, entry := range output.Failed {
		if i, ok := position(entry.Id, chunk); ok {
			text := aws.ToString(entry.Code) + ": " + aws.ToString(entry.Message)
			failures[i] = &deleteError{message: text, senderFault: entry.SenderFault}
		}
	}
	for _, entry := range output.Successful {
		if i, ok := position(entry.Id, chunk); ok {
			failures[i] = nil
		}
	}
	return failures, nil
}

func position(id *string, chunk []delivery) (int, bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < len(chunk)
}

type deleteError struct {
	message     string
	senderFault bool
}

func (e *deleteError) Error() string { return "message not deleted: " + e.message }
