package fault

import (
	"context"
	"errors"
)

// The error cannot distinguish the job's deadline from a client's timeout, and
// may mention neither; the job's context can. A cancellation of the job counts
// only if the error itself reports it: other errors keep their meaning.
var contextRules = Table{
	{ID: "cancelled", Reason: ReasonCancelled, Class: ClassRetryable, Match: cancelled},
	{ID: "deadline", Reason: ReasonDeadline, Class: ClassRetryable,
		Match: func(ctx context.Context, _ error) bool {
			return errors.Is(ctx.Err(), context.DeadlineExceeded)
		}},
}

// cancelled matches the cause as well as context.Canceled: net/http and others
// return the cause instead.
func cancelled(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
