package handler

import (
	"context"
	"log/slog"
)

// LogOutcome is the message of the one log line that each message gets.
const LogOutcome = "outcome"

// LogDeadLettered is the message of the log line for a confirmed dead letter.
const LogDeadLettered = "dead-lettered"

const (
	logTextBytes  = 512
	logNameBytes  = 128
	logStackBytes = 2 << 10
)

var outcomeLevels = map[Outcome]slog.Level{
	OutcomeDead:       slog.LevelError,
	OutcomeCrash:      slog.LevelError,
	OutcomeDropped:    slog.LevelWarn,
	OutcomeUnrecorded: slog.LevelWarn,
}

// log writes the line of one message. It carries no payload. That of a plain
// success is for debugging.
func (b *batch) log(e *entry) {
	r := e.result
	level := outcomeLevels[r.Outcome]
	if r.Outcome == OutcomeDone && r.Decision.Reason == "" && e.message.run() == 1 {
		level = slog.LevelDebug
	}
	if !b.options.Logger.Enabled(b.ctx, level) {
		return
	}
	attrs := append(b.identify(e), slog.String("outcome", r.Outcome.String()))
	if r.Err != nil && r.Outcome != OutcomeUnrun {
		attrs = append(attrs, slog.String("class", r.Decision.Class.String()))
	}
	attrs = appendText(attrs, "reason", cut(r.Decision.Reason, logNameBytes))
	attrs = appendText(attrs, "rule", cut(r.Decision.Rule, logNameBytes))
	if n := attemptNumber(e); n > 0 {
		attrs = append(attrs, slog.Int("attempt", n))
	}
	if r.Delay > 0 {
		attrs = append(attrs, slog.Float64("delaySeconds", r.Delay.Seconds()))
	}
	if r.Err != nil {
		attrs = appendText(attrs, "error", cut(text(r.Err), logTextBytes))
	}
	if p, ok := asPanic(r.Err); ok && r.Outcome == OutcomeCrash {
		attrs = append(attrs, slog.String("stack", p.Stack))
	}
	b.options.Logger.LogAttrs(b.ctx, level, LogOutcome, attrs...)
}

// logSent writes the line of a confirmed dead letter, with what a person wants to
// see first. The death itself was logged as an outcome.
func (b *batch) logSent(e *entry, deadLetterID string) {
	if !b.options.Logger.Enabled(b.ctx, slog.LevelInfo) {
		return
	}
	f := e.result.Failure
	attrs := append(b.identify(e), slog.String("class", f.Class))
	attrs = appendText(attrs, "reason", cut(f.Reason, logNameBytes))
	attrs = appendText(attrs, "rule", cut(f.Rule, logNameBytes))
	if n := len(f.History.Attempts); n > 0 {
		attrs = append(attrs, slog.Int("attempt", f.History.Attempts[n-1].Number))
	}
	attrs = append(attrs, slog.Int("runs", f.Runs()), slog.Int("budgetUsed", f.Attempts))
	attrs = appendText(attrs, "error", cut(f.Message, logTextBytes))
	attrs = appendText(attrs, "stack", cut(f.Stack, logStackBytes))
	attrs = appendText(attrs, "excerpt", b.excerpt(e.message))
	attrs = append(attrs, slog.String("deadLetterId", deadLetterID))
	b.options.Logger.LogAttrs(b.ctx, slog.LevelInfo, LogDeadLettered, attrs...)
}

// excerpt is the begin of a message's content as the log may show it. What the
// redaction does not say is not shown.
func (b *batch) excerpt(m *Message) string {
	if b.options.ExcerptBytes < 0 {
		return ""
	}
	shown := m.Content()
	if b.options.Redact != nil {
		shown = hooked(b, hookRedact, func() string { return b.options.Redact(m) })
	}
	return cut(shown, b.options.ExcerptBytes)
}

func (b *batch) logError(e *entry, what string, err error) {
	attrs := append(b.identify(e), slog.String("error", cut(text(err), logTextBytes)))
	b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, what, attrs...)
}

// logErrors logs what a queue did not do, a missing answer included. One call
// fails for all of its messages, so that each error gets one line, with the first
// message and the number of them.
func (b *batch) logErrors(entries []*entry, what string, answer func(i int) error) {
	type failure struct {
		first *entry
		said  string
	}
	var distinct []failure
	count := map[string]int{}
	for i, e := range entries {
		err := answer(i)
		if err == nil {
			continue
		}
		e.unsettled = true
		said := cut(text(err), logTextBytes)
		if count[said]++; count[said] == 1 {
			distinct = append(distinct, failure{e, said})
		}
	}
	for _, f := range distinct {
		attrs := append(b.identify(f.first), slog.String("error", f.said), slog.Int("messages", count[f.said]))
		b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, what, attrs...)
	}
}

func (b *batch) identify(e *entry) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("messageId", e.record.MessageId),
		slog.String("queue", QueueName(e.record.EventSourceARN)),
		slog.Int("receiveCount", e.message.ReceiveCount()),
	}
	attrs = appendText(attrs, "key", cut(e.message.Job.Key, logNameBytes))
	return appendText(attrs, "requestId", requestID(b.ctx))
}

// attemptNumber counts the runs of the job; 0 where the function did not run.
func attemptNumber(e *entry) int {
	if e.message.started.IsZero() {
		return 0
	}
	switch e.result.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped:
		if n := len(e.result.Job.History.Attempts); n > 0 {
			return e.result.Job.History.Attempts[n-1].Number
		}
		return 0
	case OutcomeDone, OutcomeUnrecorded, OutcomeCrash:
		return e.message.run()
	default:
		return 0
	}
}

func appendText(attrs []slog.Attr, key, value string) []slog.Attr {
	if value == "" {
		return attrs
	}
	return append(attrs, slog.String(key, value))
}
