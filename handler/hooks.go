package handler

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Hooks are told what becomes of messages. They change nothing: a hook that
// panics is logged. One that takes longer than [HookTime], or than the invocation
// has, is logged, left behind, and not called again for that batch. All of them
// must be safe for concurrent use, and nil ones are skipped.
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

type hookKind int

const (
	hookOnError hookKind = iota
	hookOnDead
	hookOnBatch
	hookRedact
	hookKinds
)

var hookNames = [hookKinds]string{"OnError", "OnDead", "OnBatch", "Redact"}

// hooksOnError tells whether OnError is to be told of a result.
func (b *batch) hooksOnError(r *Result) bool {
	if b.options.Hooks.OnError == nil || r.Err == nil || b.hung[hookOnError].Load() {
		return false
	}
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped, OutcomeCrash:
		return true
	default:
		return false
	}
}

// onError tells of a result that is the hook's own: what is sent may still move the
// delay of the other, and carries its failure.
func (b *batch) onError(ctx context.Context, m *Message, own *Result) {
	b.hook(hookOnError, func() { b.options.Hooks.OnError(context.WithoutCancel(ctx), m, own) })
}

func (b *batch) onDead(ctx context.Context, letter Letter, deadLetterID string) {
	if b.options.Hooks.OnDead != nil {
		b.hook(hookOnDead, func() { b.options.Hooks.OnDead(ctx, letter, deadLetterID) })
	}
}

func (b *batch) onBatch(ctx context.Context) {
	if b.options.Hooks.OnBatch != nil {
		r := b.report()
		b.hook(hookOnBatch, func() { b.options.Hooks.OnBatch(ctx, r) })
	}
}

// minimumHookTime is for hooks that are called when it is late.
const minimumHookTime = 10 * time.Millisecond

// hookTime leaves time for what follows the hook: letters are sent behind OnError,
// messages hidden behind OnDead, and the answer given behind OnBatch.
func (b *batch) hookTime(kind hookKind) time.Duration {
	if !b.invocation.bounded() {
		return HookTime
	}
	keep := [hookKinds]time.Duration{
		hookOnError: b.invocation.reserve * 3 / 4,
		hookOnDead:  b.invocation.reserve / 5,
		hookOnBatch: b.invocation.reserve / 20,
		hookRedact:  b.invocation.reserve / 5,
	}
	left := time.Until(b.invocation.deadline) - keep[kind]
	return max(min(left, HookTime), minimumHookTime)
}

// hook calls a hook that answers nothing.
func (b *batch) hook(kind hookKind, f func()) {
	hooked(b, kind, func() struct{} { f(); return struct{}{} })
}

// hooked keeps what goes wrong in a hook from the message that it is told of. What
// it gives then is empty.
func hooked[T any](b *batch, kind hookKind, f func() T) (answer T) {
	if b.hung[kind].Load() {
		return answer
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.hookTime(kind))
	defer cancel()
	answer, err := within(ctx, 0, f)
	if errors.Is(err, errGivenUp) {
		b.hung[kind].Store(true)
	}
	if err != nil {
		b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, "hook failed",
			slog.String("hook", hookNames[kind]), slog.String("error", cut(text(err), logTextBytes)))
	}
	return answer
}
