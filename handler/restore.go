package handler

import (
	"runtime/debug"
	"sync/atomic"
)

// restore calls the option for every message, before anything looks at one. It is
// cut off as a handler is: the message at which it hangs puts the process in
// doubt, and the others come back.
func (b *batch) restore() {
	if b.options.Restore == nil {
		return
	}
	var done atomic.Int64
	messages := make([]*Message, len(b.entries))
	for i, e := range b.entries {
		messages[i] = e.message
	}
	_, err := within(b.jobs, b.invocation.grace(), func() error {
		for _, m := range messages {
			b.restoreOne(m)
			done.Add(1)
		}
		return nil
	})
	n := int(done.Load())
	if err == nil || n == len(b.entries) {
		return
	}
	for _, e := range b.entries[n:] {
		e.message = b.received(e)
	}
	b.giveUp(b.entries[n])
}

// restoreOne takes a panic for one of decoding.
func (b *batch) restoreOne(m *Message) {
	defer func() {
		if value := recover(); value != nil {
			m.prepared, m.prepareErr = true, &PanicError{Value: value, Stack: string(debug.Stack())}
		}
	}()
	b.options.Restore(m)
}

// received is the message as it came, for one that a goroutine may still be at
// work on.
func (b *batch) received(e *entry) *Message {
	return &Message{SQSMessage: *e.record, resolver: b.resolver, received: b.invocation.start}
}
