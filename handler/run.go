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

// stage is how far a run has come.
type stage int32

const (
	// The zero value has not come to the user's function yet.
	_ stage = iota
	// stageFunction is in it, or in goroutines that it started by Go.
	stageFunction
	// stageReturned has left it.
	stageReturned
)

// run is the way of one delivery through user code: its decoding, and then
// middleware and function. Its goroutine may be left behind, so the loop reads of it
// only what is atomic until it has come back.
type run struct {
	context.Context

	message  *Message
	identity Identity
	work     func(context.Context) error
	crew     crew
	// calls are those of the function that are under way. Middleware may make them on
	// goroutines of its own, and return before.
	calls crew
	// claim is nil without a ledger, and while decoding.
	claim Claim
	// jobs is the context of all runs of the batch, options and process are those of
	// its processor.
	jobs    context.Context
	options *Options
	process *process
	// table is that of the batch when it began to be prepared.
	table deadline.Table

	stage atomic.Int32
	// layer is the middleware that it is in, from 1; 0 before the first.
	layer atomic.Int32
	// began is when the function was called, in Unix nanoseconds; 0 if it was not.
	began atomic.Int64

	// launched is when its goroutine was started.
	launched time.Time
	// stop ends the run's steps and its context; nil before the claim has made it.
	stop atomic.Pointer[func()]
	// panicked reports a panic of the function or of its goroutines, as opposed to one
	// of middleware.
	panicked atomic.Bool
	// uncounted is why the run was not to be, since its crash could not be counted.
	uncounted error
}

func (r *run) started() bool { return r.began.Load() != 0 }

func (r *run) startTime() time.Time {
	if at := r.began.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// blockedBy is why a run may not start its function although it came so far; empty
// if it may.
func (r *run) blockedBy() string {
	if reason := cmp.Or(r.process.reason(), endReason(r.jobs)); reason != "" {
		return reason
	}
	if r.claim != nil {
		if lease := r.claim.Lease(); !lease.IsZero() && !time.Now().Before(lease) {
			return ReasonNoTime
		}
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

// runOf is the run that ctx belongs to; nil outside of one.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// FromContext is the message that the handler with this context works on; nil
// outside of one. It is not to be changed.
func FromContext(ctx context.Context) *Message {
	if r := runOf(ctx); r != nil {
		return r.message
	}
	return nil
}

// endReason is why nothing may start under a context that has ended; empty if it
// has not.
func endReason(ctx context.Context) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return ReasonNoTime
	default:
		return ReasonCancelled
	}
}

func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

// Go runs fn on a goroutine of its own that belongs to the message of ctx: the
// handler is not through before fn is, and the error or panic of fn is the
// message's. A panic in a goroutine that is started by a go statement ends the
// process at once, with the whole batch, and its error is lost.
//
// A panic ends the context of the message too, so that the handler does not wait
// for what will not come.
//
// Where no handler is under way, be it over or not begun, there is nobody to tell:
// a panic ends the process, and an error is logged.
func Go(ctx context.Context, fn func(ctx context.Context) error) {
	if r := runOf(ctx); r != nil && r.crew.start(func() error { return fn(ctx) }) {
		return
	}
	go func() {
		if err := fn(ctx); err != nil {
			slog.ErrorContext(ctx, "goroutine failed outside of a handler", "error", err)
		}
	}()
}

// Classify says what err means to the processor that runs the handler with this
// context: the decision of [Options].Classifier, or that of fault.Rules() outside
// of a handler. The processor decides on the error that the handler returns, and
// by the same rules; what is said here counts for nothing. It is safe for
// concurrent use.
func Classify(ctx context.Context, err error) fault.Decision {
	r := runOf(ctx)
	if r == nil || r.options == nil {
		return fault.Classify(ctx, err)
	}
	return r.options.Classifier.Classify(ctx, err)
}
