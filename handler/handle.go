package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/sqsevent"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// ErrNotSQS is the error for an event that is not a batch of SQS messages.
var ErrNotSQS = errors.New("not an SQS event")

// Invoke is [Processor.Handle] for an event as Lambda sends it, and answers as
// Lambda reads it. It makes a Processor the handler for lambda.Start: decoding by
// way of lambda.Start(p.Handle) takes several times as long, and is most of what a
// large batch costs. An event that is no JSON gives an error with [ErrNotSQS].
func (p *Processor) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := sqsevent.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSQS, err)
	}
	response, err := p.Handle(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}

// Handle handles one batch, message by message, and returns the messages that are
// to come back. It returns before the deadline of ctx, whatever hangs: it reports
// what is not settled by then, and nothing starts in this process any more.
//
// The error is [ErrNotSQS]: the event is not from SQS, so that no outcome can be
// told for a single message, and Lambda keeps the whole batch. When user code has
// panicked, or ignored that it was cancelled, Handle settles and deletes what was
// finished, and panics, so that the process ends.
func (p *Processor) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	if err := check(event); err != nil {
		return events.SQSEventResponse{}, err
	}
	b := p.newBatch(ctx, event)
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

// leastAnswer is how long the watchdog waits where the deadline had passed before the
// invocation began: the clock that named it is wrong.
const leastAnswer = time.Second

// handle runs the batch and waits for it, but no longer than until the watchdog's
// time. Where there is no deadline, that begins with the end of the host's context, or
// with a crash. Ended is a panic of the engine itself.
func (b *batch) handle() (ended *usercall.Panic, inTime bool) {
	until := time.Until(b.table.At(deadline.Answer))
	if until <= 0 {
		until = leastAnswer
	}
	watchdog := time.NewTimer(until)
	defer watchdog.Stop()
	cancelled, hurry := b.ctx.Done(), b.hurry
	switch {
	case b.table.Bounded():
		cancelled, hurry = nil, nil
	case b.process.poisoned() != nil:
		watchdog.Reset(deadline.Grace)
	default:
		watchdog.Stop()
	}
	done := make(chan *usercall.Panic, 1)
	go usercall.Catch(
		func() error { b.run(); return nil },
		func(_ error, p *usercall.Panic) { done <- p },
	)
	for {
		select {
		case ended = <-done:
			return ended, true
		case <-cancelled:
			watchdog.Reset(deadline.Grace)
			cancelled, hurry = nil, nil
		case <-hurry:
			watchdog.Reset(deadline.CrashGrace + deadline.Grace)
			hurry = nil
		case <-watchdog.C:
			return nil, false
		}
	}
}

// answerLate is the answer of the watchdog: something hangs, and nobody knows what
// it still does. So nothing starts in this process any more, and the next
// invocation ends it.
func (b *batch) answerLate() events.SQSEventResponse {
	b.process.poisonBy(&Result{Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonHung}, Err: errHung})
	go b.logCrash(errHung) // the logger may be what hangs
	return b.response()
}

var errHung = errors.New("something hung until the end of the invocation: user code, middleware, a hook, " +
	"the logger, a queue or the ledger; see the stacks of the goroutines")

// check refuses what is no batch of SQS messages.
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

// exit is the value to panic with so that the Lambda runtime reports the original
// message and ends the process.
func exit(r *Result) messages.InvokeResponse_Error {
	out := messages.InvokeResponse_Error{Type: fmt.Sprintf("%T", r.Err), ShouldExit: true}
	if r.Err != nil {
		out.Message = truncate(text(r.Err), failureTextBytes)
	}
	return out
}

// watch ends the process at the latest when the claims of a crashed invocation end,
// if others hold it up: the Lambda runtime waits for all of them. A nil exit panics.
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
