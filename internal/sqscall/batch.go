package sqscall

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/host"
)

const (
	// MaxEntries is how many entries SQS takes in a batch call (SQS quotas).
	MaxEntries = 10
	// tries is how many calls an entry gets.
	tries = 3
	// pause is the least wait before the second call. It doubles for the third.
	pause = 100 * time.Millisecond
)

// Batch makes a batch call and gives an error for each entry, nil where SQS has
// taken it. Call gets the entries to ask for, at first all, and answers for each of
// them; its error is that of the whole call.
//
// The entries that SQS could not take for a reason of its own are asked for again
// a moment later, up to two times and while ctx leaves time for it. The SDK does
// not do that, since to it the call has succeeded. It does repeat calls that fail
// as a whole, so these are not repeated here. Neither are entries that SQS refuses
// for their content, or says nothing about: it may have taken those.
func Batch[E any](ctx context.Context, entries []E, call func(entries []E) ([]error, error)) []error {
	errs := make([]error, len(entries))
	asked := make([]int, len(entries)) // positions
	for i := range asked {
		asked[i] = i
	}
	for try := 1; len(asked) > 0; try++ {
		answers, err := call(pick(entries, asked))
		var again []int
		for i, at := range asked {
			if errs[at] = err; err == nil {
				errs[at] = answers[i]
			}
			if err == nil && serverFault(errs[at]) {
				again = append(again, at)
			}
		}
		if len(again) == 0 || try == tries || !sleep(ctx, pause<<(try-1)) {
			break
		}
		asked = again
	}
	return errs
}

func pick[E any](entries []E, positions []int) []E {
	picked := make([]E, len(positions))
	for i, at := range positions {
		picked[i] = entries[at]
	}
	return picked
}

// Position reads the id of one of n entries, which is its position in the call.
func Position(id *string, n int) (i int, ok bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < n
}

// serverFault tells whether SQS is to blame for the error.
func serverFault(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorFault() == smithy.FaultServer
}

// sleep waits for least and up to as much again by chance, so that those who
// failed together do not come back together. It is false if ctx ends before.
func sleep(ctx context.Context, least time.Duration) bool {
	d := least + time.Duration(host.Random(ctx)*float64(least))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
