package system

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// hangPoints are what may hang: all that is not the processor itself. Each ignores its
// context, if it has one.
var hangPoints = []string{
	"restore", "prepare", "key", "middleware before", "middleware after", "classifier", "on error", "on dead", "on batch",
	"claim", "settle", "hide", "delete", "letter", "logger",
}

const mostHangs = 3

// mayHang does not return, if it is what hangs in this history, as long as the process
// lives.
func (p *process) mayHang(point string) {
	if !p.on[hangs] || p.hangAt != point || p.timeout() == 0 || p.isDead() || p.isCalm() {
		return
	}
	n := p.count("hang " + p.name)
	if !chance(p.seed.at("hang %s %d", p.name, n), 0.2) || p.count("hangs") >= mostHangs {
		return
	}
	p.note(p.name, nil, "HANGS: %s", point)
	_ = p.sleepDeaf(24 * time.Hour)
}

// hooks are those of the processor.
func (p *process) hooks() handler.Hooks {
	return handler.Hooks{
		OnError: func(context.Context, *handler.Message, *handler.Result) { p.mayHang("on error") },
		OnDead:  func(context.Context, handler.Letter, string) { p.mayHang("on dead") },
		OnBatch: func(ctx context.Context, r handler.Report) {
			p.mayHang("on batch")
			p.onBatch(ctx, r)
		},
	}
}

// middleware is around every run.
func (p *process) middleware(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		p.mayHang("middleware before")
		switch kindOf(m.Body) {
		case later:
			if name := p.nameOf(m.MessageId); p.count("later "+name) < 2 {
				return handler.Defer("not yet", time.Duration(1+len(name))*time.Second)
			}
		case unwanted:
			return nil
		}
		err := next(ctx, m)
		p.mayHang("middleware after")
		return err
	}
}

func (p *process) restore(m *handler.Message) {
	p.mayHang("restore")
	dlq.Restore(m)
}

func (p *process) key(ctx context.Context, m *handler.Message) (string, error) {
	p.mayHang("key")
	return idem.JSONField("id")(ctx, m)
}

// classifier is that of production.
type classifier struct {
	fault.Table
	process *process
}

// Classify implements [handler.Classifier].
func (c classifier) Classify(ctx context.Context, err error) fault.Decision {
	c.process.mayHang("classifier")
	return c.Table.Classify(ctx, err)
}

// hangingQueue is a queue that may ignore the end of its context.
type hangingQueue struct {
	handler.Queue
	process *process
}

// ChangeVisibility implements [handler.Queue].
func (q hangingQueue) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	q.process.mayHang("hide")
	q.Queue.ChangeVisibility(ctx, changes)
}

// Delete implements [handler.Queue].
func (q hangingQueue) Delete(ctx context.Context, deletions []handler.Deletion) {
	q.process.mayHang("delete")
	q.Queue.Delete(ctx, deletions)
}

// hangingLetters are a dead-letter queue of that kind.
type hangingLetters struct {
	handler.DeadLetter
	process *process
}

// Send implements [handler.DeadLetter].
func (l hangingLetters) Send(ctx context.Context, letters []handler.Letter) {
	l.process.mayHang("letter")
	l.DeadLetter.Send(ctx, letters)
}
