package handler

import (
	"context"
	"errors"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// Processor handles batches of SQS messages in a Lambda function. It is safe for
// concurrent use. Its invocations share the breaker and the state of the process, so a
// program needs one Processor for each function. All other state belongs to one
// invocation.
type Processor struct {
	handler  Handler
	options  Options
	resolver *resolver
	chain    Func
	breaker  breaker
	process  process
}

// NewProcessor returns a Processor that passes each message to h. Nil options
// mean the defaults. The error says that h is nil, that a middleware returned a nil Func, that a
// number of the Options is negative that must not be, or that a Backoff is not valid.
func NewProcessor(h Handler, o *Options) (*Processor, error) {
	if f, isFunc := h.(Func); h == nil || isFunc && f == nil {
		return nil, errors.New("handler: the handler is nil; give it one, such as handler.JSON(charge)")
	}
	p := &Processor{handler: h, options: o.withDefaults()}
	if p.options.Instrument != nil {
		p.options.Instrument(&p.options)
	}
	if err := errors.Join(o.validateNumbers(), p.options.validate()); err != nil {
		return nil, err
	}
	p.resolver = &resolver{options: p.options, process: &p.process}
	p.breaker.limit = p.options.Breaker
	var err error
	if p.chain, err = chain(p.options.Middleware, p.call); err != nil {
		return nil, err
	}
	return p, nil
}

// Concurrency returns how many messages of a batch run at the same time, at least 1.
func (p *Processor) Concurrency() int { return p.options.Concurrency }

// call is the innermost Func of the chain: it calls the user's function and classifies
// its error.
func (p *Processor) call(ctx context.Context, m *Message) error {
	r := runOf(ctx)
	if r == nil {
		return errLostContext
	}
	if !r.calls.enter() {
		return errLateCall
	}
	defer r.calls.ended(nil)
	if reason := r.blockedBy(); reason != "" {
		return p.resolver.deferred(r.message, reason, nil)
	}
	r.noteStart()
	r.stage.Store(int32(stageFunction))
	r.goroutines.reopen()
	var err error
	usercall.Catch(
		func() error { return r.work(ctx) },
		func(e error, panicked *usercall.Panic) {
			err = asError(e, panicked)
			r.panicked.Store(panicked != nil)
		},
	)
	if !r.panicked.Load() || p.options.PanicAsPermanent {
		err = r.goroutines.join(err) // a panic that ends the process waits for nobody
	}
	r.stage.Store(int32(stageReturned))
	if err == nil {
		return nil
	}
	if p.options.PanicAsPermanent {
		err = demotePanic(err)
	}
	res := p.resolver.resolve(ctx, r.message, r, err)
	if res.Outcome == OutcomeCrash {
		r.panicked.Store(true)
		p.process.poisonBy(res)
	}
	return res
}
