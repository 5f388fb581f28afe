package handler

import (
	"context"
	"log/slog"
	"runtime"
)

// LogOutcome is the message of the one log line that each message gets.
const LogOutcome = "outcome"

// LogCrashed is the message of the log line for a crash, after which the process ends.
const LogCrashed = "process crashed"

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

// log writes the log line of one message, without its payload. The line of a plain
// success has level debug.
func (b *batch) log(d *delivery) {
	r := d.result
	level := outcomeLevels[r.Outcome]
	if r.Outcome == OutcomeDone && r.Decision.Reason == "" && d.job.History.Len()+d.job.Crashes == 0 {
		level = slog.LevelDebug
	}
	if !b.options.Logger.Enabled(b.ctx, level) {
		return
	}
	attrs := append(b.identify(d), slog.String("outcome", r.Outcome.String()))
	if r.Err != nil && r.Outcome != OutcomeDeferred {
		attrs = append(attrs, slog.String("class", r.Decision.Class.String()))
	}
	attrs = appendText(attrs, "reason", truncate(r.Decision.Reason, logNameBytes))
	attrs = appendText(attrs, "rule", truncate(r.Decision.Rule, logNameBytes))
	if n := attemptNumber(d); n > 0 {
		attrs = append(attrs, slog.Int("attempt", n))
	}
	if r.Delay > 0 {
		attrs = append(attrs, slog.Float64("delaySeconds", r.Delay.Seconds()))
	}
	if r.Err != nil {
		attrs = appendText(attrs, "error", truncate(text(r.Err), logTextBytes))
	}
	if p, ok := asPanic(r.Err); ok && r.Outcome == OutcomeCrash {
		attrs = append(attrs, slog.String("stack", p.Stack))
	}
	b.options.Logger.LogAttrs(b.ctx, level, LogOutcome, attrs...)
}

// logSent writes the log line of a confirmed dead letter, with what an operator needs
// first. The outcome dead has its own line before.
func (b *batch) logSent(d *delivery, deadLetterID string) {
	if !b.options.Logger.Enabled(b.ctx, slog.LevelInfo) {
		return
	}
	f := d.result.Failure
	attrs := append(b.identify(d), slog.String("class", f.Class))
	attrs = appendText(attrs, "reason", truncate(f.Reason, logNameBytes))
	attrs = appendText(attrs, "rule", truncate(f.Rule, logNameBytes))
	if n := len(f.History.Attempts); n > 0 {
		attrs = append(attrs, slog.Int("attempt", f.History.Attempts[n-1].Number))
	}
	attrs = append(attrs, slog.Int("runs", f.Runs()), slog.Int("budgetUsed", f.Attempts))
	attrs = appendText(attrs, "error", truncate(f.Message, logTextBytes))
	attrs = appendText(attrs, "stack", truncate(f.Stack, logStackBytes))
	attrs = appendText(attrs, "excerpt", b.excerpt(d.message))
	attrs = append(attrs, slog.String("deadLetterId", deadLetterID))
	b.options.Logger.LogAttrs(b.ctx, slog.LevelInfo, LogDeadLettered, attrs...)
}

// excerpt returns the first bytes of a message's content, after redaction, for the log.
func (b *batch) excerpt(m *Message) string {
	if b.options.ExcerptBytes < 0 {
		return ""
	}
	shown := m.Content()
	if b.options.Redact != nil {
		shown = ""
		if err := catchPanic(func() error { shown = b.options.Redact(m); return nil }); err != nil {
			b.logHook("Redact", err)
		}
	}
	return truncate(shown, b.options.ExcerptBytes)
}

func (b *batch) logHook(name string, err error) {
	b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, "hook failed",
		slog.String("hook", name), slog.String("error", truncate(text(err), logTextBytes)))
}

func (b *batch) logError(d *delivery, what string, err error) {
	attrs := append(b.identify(d), slog.String("error", truncate(text(err), logTextBytes)))
	b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, what, attrs...)
}

// logErrors logs the messages that a queue did not change or delete. One failed call
// affects all of its messages, so each distinct error gets one line, with the first
// message and the number of messages.
func (b *batch) logErrors(deliveries []*delivery, what string, errs []error) {
	type failure struct {
		first *delivery
		said  string
	}
	var distinct []failure
	count := map[string]int{}
	for i, d := range deliveries {
		if errs[i] == nil {
			continue
		}
		d.failed = true
		said := truncate(text(errs[i]), logTextBytes)
		if count[said]++; count[said] == 1 {
			distinct = append(distinct, failure{d, said})
		}
	}
	for _, f := range distinct {
		attrs := append(b.identify(f.first), slog.String("error", f.said), slog.Int("messages", count[f.said]))
		b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, what, attrs...)
	}
}

func (b *batch) identify(d *delivery) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("messageId", d.record.MessageId),
		slog.String("queue", queueName(d.record.EventSourceARN)),
		slog.Int("receiveCount", d.message.ReceiveCount()),
	}
	attrs = appendText(attrs, "key", truncate(d.job.Key, logNameBytes))
	return appendText(attrs, "requestId", requestID(b.ctx))
}

// attemptNumber returns the number of the job's run; 0 if the function did not run.
func attemptNumber(d *delivery) int {
	if d.run == nil || !d.run.started() {
		return 0
	}
	switch d.result.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped:
		if n := len(d.result.Job.History.Attempts); n > 0 {
			return d.result.Job.History.Attempts[n-1].Number
		}
		return 0
	case OutcomeDone, OutcomeUnrecorded, OutcomeCrash:
		return d.job.History.Len() + d.job.Crashes + 1
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

// stackBytes is how many bytes of the goroutines' stacks are logged at a crash.
const stackBytes = 128 << 10

// logCrash writes the log line of a crash, with the stacks of all goroutines. They show
// what hangs or still runs, and hold no payload.
func (b *batch) logCrash(err error) {
	stacks := make([]byte, stackBytes)
	stacks = stacks[:runtime.Stack(stacks, true)]
	b.options.Logger.LogAttrs(context.WithoutCancel(b.ctx), slog.LevelError, LogCrashed,
		slog.String("error", truncate(text(err), logTextBytes)), slog.String("requestId", requestID(b.ctx)),
		slog.String("goroutines", string(stacks)))
}
