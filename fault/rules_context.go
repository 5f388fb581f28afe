package fault

import (
	"context"
	"errors"
)

// The error cannot tell a deadline of the job from a client's timeout, and may
// not mention either; the job's context knows. A cancellation of the job counts
// only where the error speaks of it: other errors are as true as before.
var contextRules = Table{
	{ID: "cancelled", Reason: ReasonCancelled, Class: ClassRetryable, Match: cancelled},
	{ID: "deadline", Reason: ReasonDeadline, Class: ClassRetryable,
		Match: func(ctx context.Context, _ error) bool {
			return errors.Is(ctx.Err(), context.DeadlineExceeded)
		}},
}

// cancelled knows the cause as well as context.Canceled, since net/http and
// others report the cause in its place.
func cancelled(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
