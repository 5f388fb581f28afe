package queue

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// answers returns the error of each of n entries in a batch answer; nil for an accepted
// entry. Entry ids are positions.
func answers(n int, succeeded []*string, failed []types.BatchResultErrorEntry) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = handler.ErrUnanswered
	}
	for _, id := range succeeded {
		if i, ok := sqscall.Position(id, n); ok {
			errs[i] = nil
		}
	}
	for _, entry := range failed {
		if i, ok := sqscall.Position(entry.Id, n); ok {
			errs[i] = NewEntryError(entry)
		}
	}
	return errs
}

// batchCall calls SQS for the items at these positions, all of the queue with the URL,
// and returns an error for each. The second result is the error of the whole call.
type batchCall func(url string, members []int) ([]error, error)

// eachPack calls SQS for n items, at most ten of one queue in a call, and returns an
// error for each. If an item's queue has no URL, its error says so.
func (c *Client) eachPack(ctx context.Context, n int, arnOf func(i int) string, call batchCall) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, c.concurrency)
	for _, queue := range byQueue(n, arnOf) {
		url, err := URL(ctx, arnOf(queue[0]), c.endpoint)
		for members := range slices.Chunk(queue, sqscall.MaxEntries) {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				answers := sqscall.Batch(ctx, members, func(members []int) ([]error, error) {
					if err != nil {
						return nil, err
					}
					return call(url, members)
				})
				for i, err := range answers {
					errs[members[i]] = err
				}
			})
		}
	}
	running.Wait()
	return errs
}

// byQueue returns the positions of the items of each queue, in order.
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
