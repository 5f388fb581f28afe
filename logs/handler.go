package logs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/traceid"
)

// The names of the fields. They are stable, and those of the lines that sqsafe writes.
const (
	// KeyField has the idempotency key, cut at 128 bytes. It is missing before the key is
	// known: while the message is decoded.
	KeyField = "key"
	// MessageIDField has SQS's id of the message.
	MessageIDField = "messageId"
	// AttemptField has the number of the run, from 1, over all deliveries.
	AttemptField = "attempt"
	// EpochField has how often the job was started again after it was dead; it is missing
	// for the first epoch.
	EpochField = "epoch"
	// QueueField has the name of the queue.
	QueueField = "queue"
	// TraceIDField has the trace id as 32 hexadecimal digits; it is missing without a
	// trace.
	TraceIDField = "traceId"
)

// longestKey is how many bytes of a key are logged.
const longestKey = 128

// Handler adds the fields of the job to each record that is logged with the context of a
// job, at the top level, also in a group. A field that the record or the logger has already
// is not repeated. It is safe for concurrent use if the handler that it wraps is.
//
// A DEBUG line of a job that is debugged goes to the handler that is wrapped even if that is
// not enabled for DEBUG.
type Handler struct {
	next    slog.Handler
	options Options
	// own are the fields of the loggers made with With, outside of groups.
	own []string
	// groups are the calls of WithGroup and WithAttrs from the first group on. They are
	// repeated behind the job's fields, so that those stay at the top.
	groups []call
}

// call is one of WithGroup or WithAttrs.
type call struct {
	group string
	attrs []slog.Attr
}

func (c call) on(h slog.Handler) slog.Handler {
	if c.group != "" {
		return h.WithGroup(c.group)
	}
	return h.WithAttrs(c.attrs)
}

// whole is the handler that is wrapped, with all calls.
func (h *Handler) whole() slog.Handler {
	next := h.next
	for _, c := range h.groups {
		next = c.on(next)
	}
	return next
}

// Enabled implements [slog.Handler].
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	least := h.options.Level
	if (least == nil || level >= least.Level()) && h.next.Enabled(ctx, level) {
		return true
	}
	return level >= slog.LevelDebug && h.debugged(handler.FromContext(ctx))
}

// debugged reports whether DEBUG lines are written for the job.
func (h *Handler) debugged(m *handler.Message) bool {
	if m == nil {
		return false
	}
	if h.options.DebugLastAttempt && m.LastAttempt() {
		return true
	}
	if h.options.DebugOneIn < 1 {
		return false
	}
	id := m.Job.Key
	if id == "" {
		id = m.MessageId
	}
	sum := sha256.Sum256([]byte(id)) // keys are alike, and a weaker hash would show it
	return binary.BigEndian.Uint64(sum[:])%uint64(h.options.DebugOneIn) == 0
}

// Handle implements [slog.Handler].
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	fields := h.fields(ctx, r)
	switch {
	case len(fields) == 0:
		return h.whole().Handle(ctx, r)
	case len(h.groups) == 0:
		r = r.Clone()
		r.AddAttrs(fields...)
		return h.next.Handle(ctx, r)
	}
	next := h.next.WithAttrs(fields)
	for _, c := range h.groups {
		next = c.on(next)
	}
	return next.Handle(ctx, r)
}

// fields returns the fields of the job that the record does not have.
func (h *Handler) fields(ctx context.Context, r slog.Record) []slog.Attr {
	m := handler.FromContext(ctx)
	if m == nil {
		return nil
	}
	fields := make([]slog.Attr, 0, 6)
	if key := m.Job.Key; key != "" {
		fields = append(fields, slog.String(KeyField, truncate(key)))
	}
	fields = append(fields, slog.String(MessageIDField, m.MessageId), slog.Int(AttemptField, m.Attempt()),
		slog.String(QueueField, m.QueueName()))
	if m.Job.Epoch > 0 {
		fields = append(fields, slog.Int(EpochField, m.Job.Epoch))
	}
	if id := h.traceID(ctx, m); id != "" {
		fields = append(fields, slog.String(TraceIDField, id))
	}
	has := h.own
	if len(h.groups) == 0 {
		has = slices.Clip(has)
		r.Attrs(func(a slog.Attr) bool {
			has = append(has, a.Key)
			return true
		})
	}
	return slices.DeleteFunc(fields, func(a slog.Attr) bool { return slices.Contains(has, a.Key) })
}

func (h *Handler) traceID(ctx context.Context, m *handler.Message) string {
	if h.options.TraceID != nil {
		return h.options.TraceID(ctx)
	}
	return producerTrace(m)
}

// producerTrace returns the trace in which the message was sent; empty if it has none.
func producerTrace(m *handler.Message) string {
	parent, _ := m.Attribute(traceid.Traceparent)
	if c, ok := traceid.ParseW3C(parent); ok {
		return c.Trace()
	}
	if c, ok := traceid.ParseXRay(m.Attributes[traceid.XRayHeader]); ok {
		return c.Trace()
	}
	return ""
}

// WithAttrs implements [slog.Handler].
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	c := *h
	if len(h.groups) > 0 {
		c.groups = append(slices.Clip(h.groups), call{attrs: attrs})
		return &c
	}
	c.own = slices.Clip(h.own)
	for _, a := range attrs {
		c.own = append(c.own, a.Key)
	}
	c.next = h.next.WithAttrs(attrs)
	return &c
}

// WithGroup implements [slog.Handler].
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.groups = append(slices.Clip(h.groups), call{group: name})
	return &c
}

// truncate cuts a key as sqsafe's own lines do.
func truncate(key string) string {
	if len(key) <= longestKey {
		return key
	}
	return strings.ToValidUTF8(key[:longestKey], "")
}
