package handler

import (
	"context"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// tellError calls OnError for a result that it is to be told of.
func (b *batch) tellError(d *delivery, r *Result) {
	if b.options.Hooks.OnError == nil || r.Err == nil {
		return
	}
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped, OutcomeCrash:
		m, own := d.message, r.clone()
		ctx := &run{Context: context.WithoutCancel(b.ctx), message: m}
		d.told = b.hook("OnError", nil, func() { b.options.Hooks.OnError(ctx, m, own) })
	}
}

// tellDead calls OnDead for a letter that has arrived.
func (b *batch) tellDead(d *delivery, deadLetterID string) {
	if b.options.Hooks.OnDead == nil {
		return
	}
	letter := Letter{Message: d.message, Failure: *d.result.Failure, DeadLetterID: deadLetterID}
	b.hook("OnDead", d.told, func() { b.options.Hooks.OnDead(context.WithoutCancel(b.ctx), letter, deadLetterID) })
}

// hook calls a hook beside the loop, once another one of the same message is through.
// The batch waits for it at its end. The channel is closed when it is through itself.
func (b *batch) hook(name string, after <-chan struct{}, f func()) <-chan struct{} {
	b.hooking++
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
			b.post(event{take: func() {
				b.hooking--
				if err = asError(err, p); err != nil {
					b.logHook(name, err)
				}
			}})
		},
	)
	return through
}
