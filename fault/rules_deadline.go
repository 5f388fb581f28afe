package fault

import (
	"context"
	"errors"
)

// The error cannot tell a deadline of the job from a client's timeout, and may
// not mention either; the job's context knows.
var deadlineRules = Table{
	{ID: "deadline", Reason: ReasonDeadline, Class: ClassRetryable,
		Match: func(ctx context.Context, _ error) bool {
			return errors.Is(ctx.Err(), context.DeadlineExceeded)
		}},
}
