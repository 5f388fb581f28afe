package handlertest

import (
	"context"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// observer reads the outcomes from the processor's log lines, of which each
// message has one, and passes all lines on.
type observer struct {
	slog.Handler
	process *process
}

func (o *observer) Enabled(context.Context, slog.Level) bool { return true }

func (o *observer) Handle(ctx context.Context, r slog.Record) error {
	if o.process.killed.Load() {
		return nil
	}
	if r.Message == handler.LogOutcome {
		o.process.note(r)
	}
	if !o.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return o.Handler.Handle(ctx, r)
}

func (p *process) note(r slog.Record) {
	line := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.Resolve(); return true })
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.delivery(line["messageId"].String(), int(line["receiveCount"].Int64()))
	if d == nil {
		return
	}
	d.Outcome = outcomeNamed(line["outcome"].String())
	d.Class, d.Reason, d.Error = word(line["class"]), word(line["reason"]), word(line["error"])
	d.Took = time.Since(p.start) - d.At
}

// delivery is the one of this batch that the line is about; nil if there is none.
func (p *process) delivery(id string, receive int) *Delivery {
	for _, m := range p.batch {
		if m.message.ID == id && m.delivery.Receive == receive {
			return m.delivery
		}
	}
	return nil
}

func word(v slog.Value) string {
	if v.Kind() != slog.KindString {
		return ""
	}
	return v.String()
}

func outcomeNamed(name string) handler.Outcome {
	for o := handler.OutcomeNone; o.String() != "invalid"; o++ {
		if o.String() == name {
			return o
		}
	}
	return handler.OutcomeNone
}
