package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/sqsevent"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// ErrNotSQS is the error for an event that is not a batch of SQS messages.
var ErrNotSQS = errors.New("not an SQS event")

// Invoke runs [Processor.Handle] on the JSON of an event and returns the response as
// JSON. With it a Processor is a handler for lambda.Start. It decodes the event several
// times faster than lambda.Start(p.Handle) does. The error for an event that is not JSON
// wraps [ErrNotSQS].
func (p *Processor) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := sqsevent.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSQS, err)
	}
	response, err := p.Handle(ctx, event)
	switch {
	case err != nil:
		return nil, err
	case len(response.BatchItemFailures) == 0:
		return []byte(`{"batchItemFailures":[]}`), nil
	}
	return json.Marshal(response)
}

// Handle processes one batch and returns the messages that failed. It returns before the
// deadline of ctx even if something hangs. It then reports the unsettled messages as
// failed, and this process starts no more jobs.
//
// The error is [ErrNotSQS] if the event is not from SQS. Lambda then keeps the whole
// batch. After a panic of user code, or after user code ignored its cancellation, Handle
// settles and deletes the finished messages. Then it panics, which ends the process.
func (p *Processor) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	if err := check(event); err != nil {
		return events.SQSEventResponse{}, err
	}
	b := p.newBatch(p.begun(ctx, event.Records), event)
	poison := p.process.join(b.processChanged)
	defer p.process.leave(b.processChanged)
	ended, inTime := b.handle()
	switch {
	case !inTime && poison == nil:
		return b.answerLate(), nil
	case !inTime: // nothing has run, and what hangs may hang each time
		panic(exit(poison))
	case ended != nil:
		panic(fmt.Sprintf("%v\n%s", ended.Value, ended.Stack))
	case b.crash != nil:
		p.process.watch(b.end, host.Exit(b.ctx))
		panic(exit(b.crash))
	case poison != nil:
		panic(exit(poison))
	}
	return b.response(), nil
}

// beginTime is how long Options.Begin may take.
const beginTime = time.Second

// begun returns the context of the batch. Begin runs on another goroutine, since user code
// that hangs must not hold up the batch.
func (p *Processor) begun(ctx context.Context, records []events.SQSMessage) context.Context {
	if p.options.Begin == nil {
		return ctx
	}
	late, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	begun := make(chan context.Context, 1)
	begin := func() error {
		begun <- p.options.Begin(ctx, records)
		return nil
	}
	_, _, _ = usercall.Call(late.Done(), begin) //nolint:dogsled // only the context counts
	select {
	case of := <-begun:
		if of != nil {
			return of
		}
	default:
	}
	return ctx
}

// minAnswerTime is how long the watchdog waits if the deadline had passed before the
// invocation began. The clock that set the deadline is wrong then.
const minAnswerTime = time.Second

// handle runs the batch on other goroutines and waits for it until the watchdog fires. It
// passes on to the loop what happens outside of the batch. Without a deadline the watchdog
// starts when the host cancels the context, or at a crash. ended is a panic of the engine
// itself. inTime reports whether the batch ended before the watchdog fired.
func (b *batch) handle() (ended *usercall.Panic, inTime bool) {
	until := time.Until(b.table.At(deadline.Answer))
	if until <= 0 {
		until = minAnswerTime
	}
	watchdog := time.NewTimer(until)
	defer watchdog.Stop()
	bounded, cancelled, draining, hurry := b.table.Bounded(), b.ctx.Done(), b.draining, b.hurry
	switch {
	case bounded:
	case b.process.poisoned() != nil:
		watchdog.Reset(deadline.Grace)
	default:
		watchdog.Stop()
	}
	b.workers.begin(b.loop, b.close, b.begin)
	for {
		select {
		case <-b.over:
			return b.failed, true
		case <-b.timer.C:
			b.tell(b.onTimer)
		case <-b.processChanged:
			b.tell(b.onProcessChanged)
		case <-draining:
			draining = nil
			b.tell(b.checkOutside)
		case <-cancelled:
			cancelled, hurry = nil, nil
			if !bounded {
				watchdog.Reset(deadline.Grace)
			}
			b.tell(b.checkOutside)
		case <-hurry:
			watchdog.Reset(deadline.CrashGrace + deadline.Grace)
			hurry = nil
		case <-watchdog.C:
			return nil, false
		}
	}
}

// answerLate returns the response of the watchdog. Something hangs and may still have
// effects, so this process starts no more jobs. The next invocation ends it.
func (b *batch) answerLate() events.SQSEventResponse {
	b.process.poisonBy(&Result{Outcome: OutcomeCrash, Err: errHung})
	go b.logCrash(errHung) // the logger may be what hangs
	return b.response()
}

var errHung = errors.New("something hung until the end of the invocation: user code, middleware, a hook, " +
	"the logger, a queue or the ledger; see the stacks of the goroutines")

// check returns an error if the event is not a batch of SQS messages.
func check(event events.SQSEvent) error {
	if event.Records == nil {
		return fmt.Errorf("%w: it has no Records", ErrNotSQS)
	}
	for i := range event.Records {
		r := &event.Records[i]
		if r.MessageId == "" {
			return fmt.Errorf("%w: record %d has no messageId", ErrNotSQS, i)
		}
		if r.EventSource != "" && r.EventSource != "aws:sqs" {
			return fmt.Errorf("%w: record %d is from %q, want \"aws:sqs\"", ErrNotSQS, i, r.EventSource)
		}
	}
	return nil
}

// exit returns the value to panic with. The Lambda runtime then reports the original
// error message and ends the process.
func exit(r *Result) messages.InvokeResponse_Error {
	out := messages.InvokeResponse_Error{Type: fmt.Sprintf("%T", r.Err), ShouldExit: true}
	if r.Err != nil {
		out.Message = truncate(text(r.Err), failureTextBytes)
	}
	return out
}

// watch ends the process when the crashed invocation's claims expire, if other
// invocations still run. The Lambda runtime waits for all of them before it ends the
// process. If exit is nil, watch panics.
func (p *process) watch(end time.Time, exit func()) {
	if exit == nil {
		exit = func() { panic("the process outlived a crash") }
	}
	if end.IsZero() {
		return
	}
	time.AfterFunc(time.Until(end), func() {
		if p.busy() {
			exit()
		}
	})
}
