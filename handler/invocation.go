package handler

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// invocation is the time that one batch has. From the cut on, the reserve R is
// shared out so that each stage has what it needs when the one before it hangs:
//
//	R/4     no further verdict is begun, and calls of user code are left behind
//	0.45 R  middleware's writes end
//	R/2     messages are given up
//	0.7 R   calls to the dead-letter queue end
//	0.9 R   visibility changes and deletes end
//	0.95 R  hooks end
//
// Who does not heed the end of its context gets another R/40.
type invocation struct {
	start    time.Time
	deadline time.Time // zero: no limit
	reserve  time.Duration
}

type invocationKey struct{}

func newInvocation(ctx context.Context, reserve time.Duration) *invocation {
	inv := &invocation{start: time.Now()}
	deadline, ok := ctx.Deadline()
	if !ok {
		return inv
	}
	inv.deadline = deadline
	total := max(inv.total(), 0)
	if reserve <= 0 {
		reserve = max(minimumReserve, total/10)
	}
	inv.reserve = min(reserve, total/2)
	return inv
}

// InvocationDeadline is the end of the invocation that ctx belongs to. It lies
// behind the deadline of a message's context by the time kept for settling. ok
// is false where there is no limit.
func InvocationDeadline(ctx context.Context) (deadline time.Time, ok bool) {
	inv, found := ctx.Value(invocationKey{}).(*invocation)
	if !found {
		return ctx.Deadline()
	}
	return inv.deadline, !inv.deadline.IsZero()
}

// SettleDeadline is until when middleware may take to write what became of the
// message of ctx: soon after that the message is given up, and the process ends.
// Outside of a batch it keeps a tenth of the time back. ok is false where there is
// no limit.
func SettleDeadline(ctx context.Context) (deadline time.Time, ok bool) {
	inv, found := ctx.Value(invocationKey{}).(*invocation)
	switch {
	case !found:
		deadline, ok = ctx.Deadline()
		return deadline.Add(-time.Until(deadline) / 10), ok
	case !inv.bounded():
		return time.Time{}, false
	}
	return inv.cut().Add(2*inv.grace() - inv.reserve/20), true
}

func (inv *invocation) bounded() bool { return !inv.deadline.IsZero() }

func (inv *invocation) total() time.Duration { return inv.deadline.Sub(inv.start) }

// cut is when running messages are cancelled and no more are started.
func (inv *invocation) cut() time.Time { return inv.deadline.Add(-inv.reserve) }

// over tells whether the time for starting messages has run out.
func (inv *invocation) over() bool { return inv.bounded() && !time.Now().Before(inv.cut()) }

// grace is how long a cancelled handler may take to return.
func (inv *invocation) grace() time.Duration {
	if !inv.bounded() {
		return unboundedGrace
	}
	return max(inv.reserve/4, minimumGrace)
}

// unboundedGrace is that of invocations without a limit, in which nothing but a
// crash cuts messages off.
const unboundedGrace = time.Second

const minimumGrace = 100 * time.Millisecond

// pastVerdicts tells whether messages at their last receive are not taken to
// their verdict any more, since there may be no time to write it.
func (inv *invocation) pastVerdicts() bool {
	return inv.bounded() && time.Now().After(inv.cut().Add(inv.reserve/4))
}

// sendsEnd is when calls to the dead-letter queue are given up, so that there is
// time to hide what failed.
func (inv *invocation) sendsEnd() time.Time { return inv.deadline.Add(-inv.reserve * 3 / 10) }

// settleEnd is when all calls are given up, so that there is time to answer.
func (inv *invocation) settleEnd() time.Time { return inv.deadline.Add(-inv.reserve / 10) }

// late is how long is waited for one who is told by its context to give up.
func (inv *invocation) late() time.Duration {
	if !inv.bounded() {
		return unboundedGrace
	}
	return inv.reserve / 40
}

// cutShort tells whether a run that began at start had less than half of the
// time that the invocation has for messages: then it is not the job's fault that
// it did not finish.
func (inv *invocation) cutShort(start time.Time) bool {
	return inv.bounded() && time.Since(start) < (inv.total()-inv.reserve)/2
}

func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}
