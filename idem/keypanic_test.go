package idem_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestAPanicOfTheKeyFunctionIsOneOfDecoding(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = func(_ context.Context, m *handler.Message) (string, error) { return m.Body[3:4], nil }
		h.posts = true
		i := h.invoke(1).batch(message("m1", "ab"), message("m2", "abcd"))
		r := i.ended("m1", handler.OutcomeDead, handler.ReasonPanic)
		i.ended("m2", handler.OutcomeDone, "")
		if i.crashed || len(h.letters) != 1 || h.runs != 1 || len(h.requests) != 1 {
			t.Errorf("crashed %v, letters %v, %d runs, %d requests", i.crashed, h.letters, h.runs, len(h.requests))
		}
		if !strings.Contains(r.Failure.Stack, "TestAPanicOfTheKeyFunction") || r.Failure.Verdict {
			t.Errorf("evidence %+v, want the key function's stack and no verdict", r.Failure)
		}
	})
}

// brokenLog panics at each line.
type brokenLog struct{ slog.Handler }

func (brokenLog) Enabled(context.Context, slog.Level) bool  { return true }
func (brokenLog) Handle(context.Context, slog.Record) error { panic("log") }

func TestALogThatPanicsChangesNoOutcome(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Logger = slog.New(brokenLog{slog.DiscardHandler})
		h.broken("release")
		h.fails(errTimeout)
		i := h.invoke(1).batch(message("m1", "a"))
		i.ended("m1", handler.OutcomeRetry, "provider")
		if i.crashed {
			t.Error("the log ended the process")
		}
	})
	scenario(t, func(h *harness) {
		h.options.Logger, h.options.FailOpen = slog.New(brokenLog{slog.DiscardHandler}), true
		h.broken(idemtest.CallAcquire)
		if i := h.invoke(1).batch(message("m1", "a")); i.crashed || h.runs != 1 {
			t.Errorf("crashed %v after %d runs", i.crashed, h.runs)
		}
	})
}
