package queue_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
)

// entry is what a batch call asked for one message.
type entry struct {
	Receipt string
	Timeout int32
}

// call is one batch call.
type call struct {
	URL     string
	IDs     []string
	Entries []entry
}

// fakeAnswers says what becomes of an entry, by its receipt handle. What is not
// named succeeds.
type fakeAnswers struct {
	// refuse are the entries that fail, silent those that get no answer.
	refuse map[string]types.BatchResultErrorEntry
	silent map[string]bool
	// contradict are the entries that succeed and fail in one answer.
	contradict map[string]bool
	// fails is how often an entry fails on the side of SQS.
	fails map[string]int
	// callErr fails every call that has the entry in it, or any if it names "".
	callErr map[string]error
}

// fakeSQS answers batch calls and keeps them.
type fakeSQS struct {
	fakeAnswers
	// entered is called at the start of each call, where it is set.
	entered func()

	mu     sync.Mutex
	calls  []call
	failed map[string]int
}

// failing tells whether the entry was to fail.
func (f *fakeSQS) failing(receipt string) bool { return f.fails[receipt] > 0 }

func (f *fakeSQS) answer(c call) (succeeded []string, failed []types.BatchResultErrorEntry, err error) {
	if f.entered != nil {
		f.entered()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
	if f.failed == nil {
		f.failed = map[string]int{}
	}
	for i, e := range c.Entries {
		if err := cmp.Or(f.callErr[e.Receipt], f.callErr[""]); err != nil {
			return nil, nil, err
		}
		refusal, refused := f.refuse[e.Receipt]
		if f.fails[e.Receipt] > f.failed[e.Receipt] {
			f.failed[e.Receipt]++
			refusal, refused = types.BatchResultErrorEntry{Code: aws.String("InternalError")}, true
		}
		if refused || f.contradict[e.Receipt] {
			refusal.Id = aws.String(c.IDs[i])
			failed = append(failed, refusal)
		}
		if !refused && !f.silent[e.Receipt] {
			succeeded = append(succeeded, c.IDs[i])
		}
	}
	slices.Reverse(succeeded)
	return succeeded, failed, nil
}

func (f *fakeSQS) ChangeMessageVisibilityBatch(
	_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	c := call{URL: *in.QueueUrl}
	for _, e := range in.Entries {
		c.IDs = append(c.IDs, *e.Id)
		c.Entries = append(c.Entries, entry{Receipt: *e.ReceiptHandle, Timeout: e.VisibilityTimeout})
	}
	succeeded, failed, err := f.answer(c)
	if err != nil {
		return nil, err
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{Failed: failed}
	for _, id := range succeeded {
		out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: aws.String(id)})
	}
	return out, nil
}

func (f *fakeSQS) DeleteMessageBatch(
	_ context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.DeleteMessageBatchOutput, error) {
	c := call{URL: *in.QueueUrl}
	for _, e := range in.Entries {
		c.IDs = append(c.IDs, *e.Id)
		c.Entries = append(c.Entries, entry{Receipt: *e.ReceiptHandle})
	}
	succeeded, failed, err := f.answer(c)
	if err != nil {
		return nil, err
	}
	out := &sqs.DeleteMessageBatchOutput{Failed: failed}
	for _, id := range succeeded {
		out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: aws.String(id)})
	}
	return out, nil
}

const chargeARN = "arn:aws:sqs:eu-central-1:123456789012:charge"

// messages gives n messages of a queue with the receipt handles name-0, name-1, ….
func messages(arn, name string, n int) []*handler.Message {
	out := make([]*handler.Message, n)
	for i := range out {
		out[i] = &handler.Message{}
		out[i].EventSourceARN = arn
		out[i].MessageId = name + "-" + strconv.Itoa(i)
		out[i].ReceiptHandle = name + "-" + strconv.Itoa(i)
	}
	return out
}
