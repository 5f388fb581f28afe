package handler

import (
	"context"
	"log/slog"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// Hooks are told what becomes of messages. They change nothing: a hook that panics is
// logged. The answer of the batch waits for them, up to the end of the invocation.
// All of them must be safe for concurrent use, and nil ones are skipped.
type Hooks struct {
	// OnError is called once for each run that failed, with the decision on its error:
	// a retry, a death, a drop or a crash. The Result is the hook's own.
	OnError func(ctx context.Context, m *Message, r *Result)
	// OnDead is called once the dead-letter queue has confirmed a message, with the id
	// that it gave.
	OnDead func(ctx context.Context, letter Letter, deadLetterID string)
	// OnBatch is called at the end of each batch, before a crash too.
	OnBatch func(ctx context.Context, r Report)
}

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

// onBatch calls OnBatch with the report of the batch.
func (b *batch) onBatch() {
	if b.options.Hooks.OnBatch == nil {
		return
	}
	r := b.report()
	err := apart(func() { b.options.Hooks.OnBatch(context.WithoutCancel(b.ctx), r) })
	if err != nil {
		b.logHook("OnBatch", err)
	}
}

func (b *batch) logHook(name string, err error) {
	b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, "hook failed",
		slog.String("hook", name), slog.String("error", truncate(text(err), logTextBytes)))
}
