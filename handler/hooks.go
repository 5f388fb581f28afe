package handler

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Hooks are told what becomes of messages. They change nothing: a hook that
// panics, or takes longer than [HookTime], is logged and left behind. All of
// them must be safe for concurrent use, and nil ones are skipped.
type Hooks struct {
	// OnError is called once for each run that failed, with the decision on its
	// error: a retry, a death, a drop or a crash.
	OnError func(ctx context.Context, m *Message, r *Result)
	// OnDead is called once the dead-letter queue has confirmed a message, with
	// the id that it gave.
	OnDead func(ctx context.Context, letter Letter, deadLetterID string)
	// OnBatch is called at the end of each batch, before a crash too.
	OnBatch func(ctx context.Context, r Report)
}

// HookTime is how long a hook may take.
const HookTime = time.Second

func (b *batch) onError(ctx context.Context, m *Message, r *Result) {
	if b.options.Hooks.OnError == nil || r.Err == nil {
		return
	}
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped, OutcomeCrash:
		b.hook("OnError", func() { b.options.Hooks.OnError(context.WithoutCancel(ctx), m, r) })
	}
}

func (b *batch) onDead(ctx context.Context, letter Letter, deadLetterID string) {
	if b.options.Hooks.OnDead != nil {
		b.hook("OnDead", func() { b.options.Hooks.OnDead(ctx, letter, deadLetterID) })
	}
}

func (b *batch) onBatch(ctx context.Context) {
	if b.options.Hooks.OnBatch != nil {
		r := b.report()
		b.hook("OnBatch", func() { b.options.Hooks.OnBatch(ctx, r) })
	}
}

// hook keeps what goes wrong in a hook from the message that it is told of.
func (b *batch) hook(name string, f func()) {
	done := make(chan error, 1)
	go recovered(func() error { f(); return nil }, func(err error) { done <- err })
	timer := time.NewTimer(HookTime)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C:
		err = fmt.Errorf("it did not return within %v", HookTime)
	}
	if err != nil {
		b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, "hook failed",
			slog.String("hook", name), slog.String("error", cut(err.Error(), logTextBytes)))
	}
}
