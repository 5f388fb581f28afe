package handler

import (
	"context"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// callOnError calls OnError if the result is one that OnError is called for.
func (b *batch) callOnError(d *delivery, r *Result) {
	if b.options.Hooks.OnError == nil || r.Err == nil {
		return
	}
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped, OutcomeCrash:
		m, own := d.message, r.clone()
		ctx := &run{Context: context.WithoutCancel(b.ctx), message: m}
		d.onErrorDone = b.hook("OnError", nil, func() { b.options.Hooks.OnError(ctx, m, own) })
	}
}

// callOnDead calls OnDead for a confirmed dead letter.
func (b *batch) callOnDead(d *delivery, deadLetterID string) {
	if b.options.Hooks.OnDead == nil {
		return
	}
	letter := Letter{Message: d.message, Failure: *d.result.Failure, DeadLetterID: deadLetterID}
	b.hook("OnDead", d.onErrorDone, func() { b.options.Hooks.OnDead(context.WithoutCancel(b.ctx), letter, deadLetterID) })
}

// hook calls a hook on a new goroutine, after the hook of the same message that closes
// after. The batch waits for it at its end. The returned channel is closed when the hook
// has returned.
func (b *batch) hook(name string, after <-chan struct{}, f func()) <-chan struct{} {
	b.runningHooks++
	through := make(chan struct{})
	go usercall.Catch(
		func() error {
			if after != nil {
				<-after
			}
			f()
			return nil
		},
		func(err error, p *usercall.Panic) {
			close(through)
			b.workers.post(func() {
				b.runningHooks--
				if err = asError(err, p); err != nil {
					b.logHook(name, err)
				}
			})
		},
	)
	return through
}
