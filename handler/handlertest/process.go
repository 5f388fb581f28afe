package handlertest

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"

	"github.com/sqsafe/sqsafe/handler"
)

// process is one life of the function.
type process struct {
	*simulation
	processor *handler.Processor
	killed    atomic.Bool
}

var errKilled = errors.New("the process was killed")

func newProcess(s *simulation) *process {
	p := &process{simulation: s}
	o := s.queue.Options
	o.Middleware = append(append([]handler.Middleware{}, o.Middleware...), p.dieKilled)
	o.DeadLetter, o.Queue = &letterbox{p, o.DeadLetter}, &tap{p, o.Queue}
	if o.Ledger != nil {
		o.Ledger, o.AwaitSettle = &ledger{o.Ledger, p}, true
	}
	o.Hooks = p.silence(o.Hooks)
	o.Logger = slog.New(&observer{Handler: s.log, process: p})
	if o.Random == nil {
		o.Random = func() float64 { return 0 }
	}
	if o.Restore == nil {
		o.Restore = restore
	}
	var err error
	if p.processor, err = handler.NewProcessor(watched{s.queue.Handler, p}, &o); err != nil {
		s.t.Fatalf("handlertest.Queue: %v", err)
	}
	return p
}

type processKey struct{}

// watched is the user's handler, with its calls written down.
type watched struct {
	handler.Handler
	process *process
}

func (w watched) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	work, err := w.Handler.Prepare(ctx, m)
	if err != nil || work == nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		defer w.process.returned(w.process.called(m))
		w.process.ran(m)
		return work(context.WithValue(ctx, processKey{}, w.process))
	}, nil
}

func (p *process) ran(m *handler.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stored := p.byReceipt(m.ReceiptHandle); stored != nil {
		stored.delivery.Ran = true
		p.report.RunOrder = append(p.report.RunOrder, stored.message.ID)
	}
}

// Kill ends the function's process where it is called, as out of memory or a
// lost machine would: nothing is settled, sent, changed or deleted after it, no
// middleware sees an end of the run, and the next batch gets a new process. It is
// for a handler that [Queue.Run] or [Queue.Invoke] calls, takes that one's
// context, and does not return; elsewhere it panics.
//
// Other messages that run at the time go on until their handlers return, but
// their ends are not recorded either.
func Kill(ctx context.Context) {
	p, ok := ctx.Value(processKey{}).(*process)
	if !ok {
		panic("handlertest.Kill: ctx is not that of a handler in a handlertest.Queue")
	}
	p.killed.Store(true)
	runtime.Goexit()
}

// dieKilled is the innermost middleware. It keeps those around it from learning
// of an end that a killed process could not have told them.
func (p *process) dieKilled(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		err := next(ctx, m)
		if p.killed.Load() {
			runtime.Goexit()
		}
		return err
	}
}

// silence keeps a killed process from calling hooks.
func (p *process) silence(h handler.Hooks) handler.Hooks {
	var out handler.Hooks
	if h.OnError != nil {
		out.OnError = func(ctx context.Context, m *handler.Message, r *handler.Result) {
			if !p.killed.Load() {
				h.OnError(ctx, m, r)
			}
		}
	}
	if h.OnDead != nil {
		out.OnDead = func(ctx context.Context, letter handler.Letter, id string) {
			if !p.killed.Load() {
				h.OnDead(ctx, letter, id)
			}
		}
	}
	if h.OnBatch != nil {
		out.OnBatch = func(ctx context.Context, r handler.Report) {
			if !p.killed.Load() {
				h.OnBatch(ctx, r)
			}
		}
	}
	return out
}
