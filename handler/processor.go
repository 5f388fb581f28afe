package handler

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
)

// Processor handles batches of SQS messages as a Lambda function gets them. It
// is safe for concurrent use: all state is that of one invocation, or of its
// [Process].
type Processor struct {
	handler  Handler
	options  Options
	resolver *resolver
	chain    Func
}

// NewProcessor makes a Processor that hands each message to h. A nil o is the
// zero Options. It panics when h is nil, a middleware returns a nil Func or a
// Backoff says that it is not valid, since every job would meet that.
func NewProcessor(h Handler, o *Options) *Processor {
	if f, isFunc := h.(Func); h == nil || isFunc && f == nil {
		panic("handler.NewProcessor: the handler is nil; give it one, such as handler.JSON(charge)")
	}
	p := &Processor{handler: h, options: o.withDefaults()}
	if err := p.options.validate(); err != nil {
		panic(err)
	}
	p.resolver = &resolver{options: p.options}
	p.chain = p.prepare(Chain(p.options.Middleware...)(p.perform))
	return p
}

// ErrNotSQS is the error for an event that is not a batch of SQS messages.
var ErrNotSQS = errors.New("not an SQS event")

// Handle handles one batch, message by message, and answers with the messages
// that are to come back. It returns an error, which makes Lambda keep the whole
// batch, only where no outcome can be told for a single message: for an event
// that is not from SQS ([ErrNotSQS]). When user code has panicked, Handle
// settles and acknowledges what was finished, and panics; from then on it starts
// nothing any more.
func (p *Processor) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	if err := check(event); err != nil {
		return events.SQSEventResponse{}, err
	}
	doubt := p.options.Process.enter()
	defer p.options.Process.leave()
	b := p.newBatch(ctx, event)
	b.handle()
	switch {
	case b.crash != nil:
		p.options.Process.watch(b.invocation.deadline, p.options.Exit)
		panic(exit(b.crash))
	case doubt != nil:
		panic(exit(doubt))
	}
	return b.response(), nil
}

// handle runs the messages and settles them.
func (b *batch) handle() {
	var cancelLast context.CancelFunc
	b.jobs, b.cancelJobs = b.invocation.jobContext(b.ctx)
	defer b.cancelJobs()
	b.last, cancelLast = b.invocation.verdictContext(b.ctx)
	defer cancelLast()
	b.run()
	b.reportUndecided()
	b.hide()
	if b.crash != nil {
		b.acknowledge()
	}
	b.onBatch(context.WithoutCancel(b.ctx))
}

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
