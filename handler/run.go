package handler

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// stage is the progress of a run.
type stage int32

const (
	// The zero value is before the call of the user's function.
	_ stage = iota
	// stageFunction is in the user's function, or in goroutines that it started with Go.
	stageFunction
	// stageReturned is after the function has returned.
	stageReturned
)

// run is one delivery's user code: decoding, and then middleware and function. User code
// may be abandoned while it still runs. So until it has returned, the loop reads only
// atomic fields.
type run struct {
	context.Context

	message    *Message
	identity   Identity
	work       func(context.Context) error
	goroutines waitGroup
	// calls are the running calls of the function. Middleware may make them on goroutines
	// of its own and return before they end.
	calls waitGroup
	// claim is nil without a ledger, and while decoding.
	claim Claim
	// jobs is the parent context of the batch's runs. options and process are those of
	// the processor.
	jobs    context.Context
	options *Options
	process *process
	// probe reports whether it runs although the breaker is open: it finds out for others
	// whether that may close, so that a failure of what jobs depend on costs it nothing.
	probe bool
	// table is that of the batch when it startedAt to be prepared.
	table *deadline.Table

	stage atomic.Int32
	// layer is the number of the middleware that the run is in, from 1; 0 before the
	// first.
	layer atomic.Int32
	// startedAt is how long after launched the function was called, and a nanosecond; 0 if it
	// was not. So how long it ran does not depend on a clock that is set meanwhile.
	startedAt atomic.Int64

	// launched is when its goroutine was started.
	launched time.Time
	// stop ends the run's steps and context; nil before Claim.Run has returned it.
	stop atomic.Pointer[func()]
	// panicked reports whether the function or one of its goroutines panicked. A panic of
	// middleware does not count.
	panicked atomic.Bool
	// uncounted is the error that kept the crash of a lone run from being counted; nil if
	// there was none.
	uncounted error
}

func (r *run) started() bool { return r.startedAt.Load() != 0 }

func (r *run) noteStart() { r.startedAt.CompareAndSwap(0, int64(time.Since(r.launched))+1) }

func (r *run) startTime() time.Time {
	if after := r.startedAt.Load(); after != 0 {
		return r.launched.Add(time.Duration(after - 1))
	}
	return time.Time{}
}

// blockedBy returns why the function may not be called now; empty if it may.
func (r *run) blockedBy() string {
	if reason := cmp.Or(r.process.reason(), endReason(r.jobs)); reason != "" {
		return reason
	}
	if r.claim == nil {
		return ""
	}
	select {
	case <-r.claim.Lost():
		return ReasonNoTime
	default:
	}
	if lease := r.claim.Lease(); !lease.IsZero() && !time.Now().Before(lease) {
		return ReasonNoTime
	}
	return ""
}

type runKey struct{}

// Value implements [context.Context]: a run is the context of its own user code.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// runOf returns the run of ctx; nil if there is none.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// FromContext returns the message that the handler with this context works on; nil
// outside of a handler. Do not change it.
func FromContext(ctx context.Context) *Message {
	if r := runOf(ctx); r != nil {
		return r.message
	}
	return nil
}

// endReason returns why nothing may start under a context that has ended; empty if it has
// not ended.
func endReason(ctx context.Context) string {
	return deadline.EndReason(ctx, ReasonNoTime, ReasonCancelled)
}

func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

// Go runs fn on a new goroutine that belongs to the message of ctx. The run of the
// message lasts until fn returns. An error or panic of fn is an error or panic of the
// handler. In contrast, a panic in a goroutine started with a go statement ends the
// process at once, with the whole batch, and its error is lost.
//
// A panic also cancels the context of the message, so that the handler does not wait for
// a result that will never come.
//
// If no handler runs with ctx, before it starts or after it has ended, a panic ends the
// process and an error is logged.
func Go(ctx context.Context, fn func(ctx context.Context) error) {
	if r := runOf(ctx); r != nil && r.goroutines.start(func() error { return fn(ctx) }) {
		return
	}
	go func() {
		if err := fn(ctx); err != nil {
			slog.ErrorContext(ctx, "goroutine failed outside of a handler", "error", err)
		}
	}()
}

// Classify returns the decision that [Options].Classifier makes on err in the processor
// of ctx, or that of fault.Rules() outside of a handler. It has no effect on the outcome:
// the processor classifies the error that the handler returns, by the same rules. It is
// safe for concurrent use.
func Classify(ctx context.Context, err error) fault.Decision {
	r := runOf(ctx)
	if r == nil || r.options == nil {
		return fault.Classify(ctx, err)
	}
	return r.options.Classifier.Classify(ctx, err)
}
