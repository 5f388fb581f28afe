package system

import (
	"context"
	"fmt"
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
// lives. The id is that of the message that it is about; empty for none.
func (p *process) mayHang(point, id string) {
	if !p.on[hangs] || p.hangAt != point || p.timeout() == 0 || p.isDead() || p.isCalm() {
		return
	}
	about := ""
	if id != "" {
		about = p.nameOf(id)
	}
	n := p.count("hang " + p.name + " " + about)
	if !chance(p.seed.at("hang %s %s %d", p.name, about, n), 0.2) || p.count("hangs") >= mostHangs {
		return
	}
	p.note(p.name, nil, "HANGS: %s %s", point, about)
	_ = p.sleepDeaf(24 * time.Hour)
}

// hooks are those of the processor.
func (p *process) hooks() handler.Hooks {
	return handler.Hooks{
		OnError: func(_ context.Context, m *handler.Message, _ *handler.Result) { p.mayHang("on error", m.MessageId) },
		OnDead:  func(_ context.Context, l handler.Letter, _ string) { p.mayHang("on dead", l.Message.MessageId) },
		OnBatch: func(ctx context.Context, r handler.Report) {
			p.mayHang("on batch", "")
			p.onBatch(ctx, r)
		},
	}
}

// middleware is around every run.
func (p *process) middleware(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		p.mayHang("middleware before", m.MessageId)
		switch kindOf(m.Body) {
		case later:
			if name := p.nameOf(m.MessageId); p.count("later "+name) < 2 {
				return handler.Defer("not yet", time.Duration(1+len(name))*time.Second)
			}
		case unwanted:
			return nil
		}
		err := next(ctx, m)
		p.mayHang("middleware after", m.MessageId)
		return err
	}
}

func (p *process) restore(m *handler.Message) {
	p.mayHang("restore", m.MessageId)
	dlq.Restore(m)
}

func (p *process) key(ctx context.Context, m *handler.Message) (string, error) {
	p.mayHang("key", m.MessageId)
	key, err := idem.JSONField("id")(ctx, m)
	if err == nil {
		key = p.release.keyPrefix + key
	}
	return key, err
}

// classifier is that of production.
type classifier struct {
	fault.Table
	process *process
}

// Classify implements [handler.Classifier].
func (c classifier) Classify(ctx context.Context, err error) fault.Decision {
	c.process.mayHang("classifier", "")
	return c.Table.Classify(ctx, err)
}

// hangingQueue is a queue that may ignore the end of its context.
type hangingQueue struct {
	handler.Queue
	process *process
}

// ChangeVisibility implements [handler.Queue].
func (q hangingQueue) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	q.process.mayHang("hide", changes[0].Message.MessageId)
	q.Queue.ChangeVisibility(ctx, changes)
	q.process.comesBack(ctx, fmt.Sprint("hide ", q.process.nameOf(changes[0].Message.MessageId), changes[0].Timeout))
}

// Delete implements [handler.Queue].
func (q hangingQueue) Delete(ctx context.Context, deletions []handler.Deletion) {
	q.process.mayHang("delete", deletions[0].Message.MessageId)
	q.Queue.Delete(ctx, deletions)
	q.process.comesBack(ctx, "delete "+q.process.nameOf(deletions[0].Message.MessageId))
}

// hangingLetters are a dead-letter queue of that kind.
type hangingLetters struct {
	handler.DeadLetter
	process *process
}

// Send implements [handler.DeadLetter].
func (l hangingLetters) Send(ctx context.Context, letters []handler.Letter) {
	l.process.mayHang("letter", letters[0].Message.MessageId)
	l.DeadLetter.Send(ctx, letters)
	l.process.comesBack(ctx, "send "+l.process.nameOf(letters[0].Message.MessageId))
}
