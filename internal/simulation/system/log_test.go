package system

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// logHandler takes in what a process logs.
type logHandler struct{ process *process }

// Enabled implements [slog.Handler].
func (h *logHandler) Enabled(context.Context, slog.Level) bool { return !h.process.isDead() }

// Handle implements [slog.Handler].
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	p := h.process
	if p.isDead() {
		return nil
	}
	fields := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		fields[a.Key] = a.Value.String()
		return true
	})
	if r.Message == handler.LogOutcome {
		p.mayHang("logger", fields["messageId"])
	}
	var jobs []string
	text := "log: " + r.Message
	if id := fields["messageId"]; id != "" {
		name := p.nameOf(id)
		jobs = []string{keyOf(name)}
		text += " " + name
	}
	if r.Message == handler.LogOutcome {
		text = strings.Replace(text, "outcome ", "", 1)
	}
	p.judge.logged(p, r.Message, fields)
	switch r.Message {
	case handler.LogOutcome:
		p.tally("outcome " + fields["outcome"] + " " + fields["reason"])
	default:
		p.tally("log " + r.Message)
	}
	for _, key := range []string{"outcome", "reason", "attempt", "delaySeconds", "error"} {
		if fields[key] != "" {
			text += fmt.Sprintf(" %s=%.160s", key, strings.ReplaceAll(fields[key], "\n", " "))
		}
	}
	if r.Message != handler.LogCrashed { // a goroutine of its own may write it, at the moment of the end
		p.note(p.name, jobs, "%s", text)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(string) slog.Handler { return h }

func describe(attrs map[string]queues.Attribute) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		value := string(a.BinaryValue)
		if a.StringValue != nil {
			value = *a.StringValue
		}
		out = append(out, fmt.Sprintf("%s %s %q", name, a.DataType, value))
	}
	return out
}
