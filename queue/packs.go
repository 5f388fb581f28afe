package queue

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
)

// packEntries is how many entries SQS takes in a batch call.
const packEntries = 10

// answers is what a batch call said: an error for all of it, or one by entry id.
type answers struct {
	call    error
	entries map[string]error
}

func newAnswers(failed []types.BatchResultErrorEntry) answers {
	a := answers{entries: make(map[string]error, packEntries)}
	for _, entry := range failed {
		a.entries[aws.ToString(entry.Id)] = NewEntryError(entry)
	}
	return a
}

// succeed notes a success, unless the same answer also tells of a failure.
func (a answers) succeed(id *string) {
	if _, failed := a.entries[aws.ToString(id)]; !failed {
		a.entries[aws.ToString(id)] = nil
	}
}

func (a answers) at(position int) error {
	if a.call != nil {
		return a.call
	}
	err, answered := a.entries[strconv.Itoa(position)]
	if !answered {
		return handler.ErrUnanswered
	}
	return err
}

// eachPack calls for at most ten of n items of one queue at a time and gathers
// the answers. An item whose queue has no URL has that as its error.
func (c *Client) eachPack(
	ctx context.Context, n int, arnOf func(i int) string, call func(url string, members []int) answers,
) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, c.concurrency)
	for _, queue := range byQueue(n, arnOf) {
		url, err := URL(ctx, arnOf(queue[0]), c.endpoint)
		for members := range slices.Chunk(queue, packEntries) {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				a := answers{call: err}
				if err == nil {
					a = call(url, members)
				}
				for position, i := range members {
					errs[i] = a.at(position)
				}
			})
		}
	}
	running.Wait()
	return errs
}

// byQueue gives the positions of the items of each queue, in order.
func byQueue(n int, arnOf func(i int) string) [][]int {
	var queues [][]int
	known := map[string]int{}
	for i := range n {
		at, ok := known[arnOf(i)]
		if !ok {
			at = len(queues)
			known[arnOf(i)] = at
			queues = append(queues, nil)
		}
		queues[at] = append(queues[at], i)
	}
	return queues
}
