package handler_test

import (
	"context"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// receipts keeps by what messages are hidden.
type receipts struct {
	*queues
	hid []string
}

func (r *receipts) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	for _, c := range changes {
		r.hid = append(r.hid, c.Message.EventSourceARN+" "+c.Message.ReceiptHandle)
	}
	r.queues.ChangeVisibility(ctx, changes)
}

// Middleware may change a message for those behind it; what the queues are told
// is what they sent.
func TestQueuesAreToldOfWhatTheySent(t *testing.T) {
	t.Parallel()
	r := &receipts{queues: newQueues()}
	o := r.options()
	o.Queue = r
	o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			kind := m.Body
			m.Body, m.ReceiptHandle, m.EventSourceARN, m.MessageId = "changed", "another", "elsewhere", "unknown"
			if kind == "dead" {
				return fault.Permanent(errOdd)
			}
			return next(ctx, m)
		}
	}}
	p := newProcessor(handler.Func(fails(fault.Retryable(errOdd))), o)
	handle(t, p, record("m1", "dead"), record("m2", "x"))
	if len(r.letters) != 1 || r.letters[0].Message.Body != "dead" || r.letters[0].Message.MessageId != "m1" {
		t.Errorf("letters %v, want m1 with its body", r.letters)
	}
	if len(r.hid) != 1 || r.hid[0] != standardARN+" receipt-m2" {
		t.Errorf("hid %q, want m2 by its receipt in its queue", r.hid)
	}
}
