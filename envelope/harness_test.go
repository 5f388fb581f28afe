package envelope_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

// opened is what the handler inside an envelope receives.
type opened struct {
	content string
	message *handler.Message
	err     error
}

// open prepares a message with a raw handler inside the envelope that wrap
// adds.
func open(t *testing.T, wrap func(handler.Handler) handler.Handler, m handlertest.Message) opened {
	t.Helper()
	received := m.Received()
	body := received.Body
	h := wrap(handler.Func(func(context.Context, *handler.Message) error { return nil }))
	_, err := h.Prepare(t.Context(), received)
	if received.Body != body {
		t.Errorf("the body is %q now, want it as it came", received.Body)
	}
	return opened{content: received.Content(), message: received, err: err}
}

// ledger returns a ledger in memory for a key.
func ledger(t *testing.T, key idem.KeyFunc) *idem.Ledger {
	t.Helper()
	l, err := idem.New(idem.NewMemory(), &idem.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantContent fails the test unless the message was opened and has this
// content.
func (o opened) wantContent(t *testing.T, want string) {
	t.Helper()
	if o.err != nil || o.content != want {
		t.Errorf("content is %q, error %v; want %q", o.content, o.err, want)
	}
}

// wantRefused fails the test unless the error is permanent and its text has all
// the words.
func (o opened) wantRefused(t *testing.T, words ...string) {
	t.Helper()
	if _, ok := errors.AsType[*fault.DecodeError](o.err); !ok {
		t.Fatalf("error is %v, want a *fault.DecodeError", o.err)
	}
	for _, word := range words {
		if !strings.Contains(o.err.Error(), word) {
			t.Errorf("error is %q, want %q in it", o.err, word)
		}
	}
}
