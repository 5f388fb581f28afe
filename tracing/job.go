package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/traceid"
)

// startJob starts a span for one message.
func (t *Tracer) startJob(
	ctx context.Context, m *handler.Message, operation, kind string, o ...trace.SpanStartOption,
) (context.Context, trace.Span) {
	o = append(o, trace.WithSpanKind(kindOf(operation)), trace.WithAttributes(ofMessage(m, operation, kind)...))
	return t.Start(ctx, operation+" "+m.QueueName(), o...) //nolint:spancheck // the caller ends it
}

// run is middleware that makes the span of a run.
func (t *Tracer) run(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		ctx, span := t.startJob(ctx, m, operationRun, operationBatch, trace.WithLinks(linksOf(m)...),
			trace.WithAttributes(AttemptAttribute.Int(m.Attempt())))
		if b := batchOf(ctx); b != nil {
			defer b.started(span)()
		}
		defer span.End()
		if c, ok := ctx.Value(claimKey{}).(*claim); ok {
			c.run = span.SpanContext()
		}
		err := next(ctx, m)
		r := handler.AsResult(err)
		if r == nil {
			r = &handler.Result{Outcome: handler.OutcomeDone}
			if err != nil { // of middleware, and not classified yet
				r = &handler.Result{Outcome: handler.OutcomeRetry, Err: err, Decision: handler.Classify(ctx, err)}
			}
		}
		span.SetAttributes(ofResult(r)...)
		fail(span, r)
		return err
	}
}

// fail records the error of a result, if it has one that is the job's.
func fail(span trace.Span, r *handler.Result) {
	if r.Err == nil || r.Outcome == handler.OutcomeDeferred || r.Outcome == handler.OutcomeDone {
		return
	}
	record(span, r.Err, r.Decision.Reason)
}

// ledger makes spans of claims.
type ledger struct {
	handler.Ledger
	tracer *Tracer
}

// Claim implements [handler.Ledger].
func (l ledger) Claim(ctx context.Context, m *handler.Message, id handler.Identity, end time.Time) handler.ClaimAnswer {
	ctx, span := l.tracer.startJob(ctx, m, operationClaim, "")
	defer span.End()
	answer := l.Ledger.Claim(ctx, m, id, end)
	span.SetAttributes(ofJob(&handler.Job{Key: id.Key, Epoch: answer.Job.Epoch})...)
	if answer.Decided != nil {
		span.SetAttributes(ofResult(answer.Decided)...)
		fail(span, answer.Decided)
	}
	if answer.Refusal != nil {
		record(span, answer.Refusal, "refused")
	}
	if answer.Claim != nil {
		answer.Claim = &claim{Claim: answer.Claim, tracer: l.tracer, message: m, job: answer.Job, key: id.Key}
	}
	return answer
}

// claim makes the span of the write that ends a claim. One goroutine at a time uses it.
type claim struct {
	handler.Claim
	tracer  *Tracer
	message *handler.Message
	job     handler.Job
	key     string
	// run is the span of the run; not valid before.
	run trace.SpanContext
}

type claimKey struct{}

// Run implements [handler.Claim].
func (c *claim) Run(ctx context.Context) (context.Context, func()) {
	run, stop := c.Claim.Run(ctx)
	return context.WithValue(run, claimKey{}, c), stop
}

// Settle implements [handler.Claim].
func (c *claim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	var links []trace.Link
	if !e.Running && c.run.IsValid() { // else the run may still write it
		links = append(links, link(c.run, linkRun))
		if e.Result != nil && e.Result.Failure != nil && e.Result.Failure.Trace == "" {
			of := traceid.Context{TraceID: c.run.TraceID(), SpanID: c.run.SpanID(), Sampled: c.run.IsSampled()}
			e.Result.Failure.Trace = of.W3C()
		}
	}
	ctx, span := c.tracer.Start(ctx, operationSettle+" "+c.message.QueueName(),
		trace.WithSpanKind(kindOf(operationSettle)), trace.WithLinks(links...),
		trace.WithAttributes(append(ofQueue(c.message.QueueName(), operationSettle, operationSettle),
			messageID.String(c.message.MessageId))...),
		trace.WithAttributes(ofJob(&handler.Job{Key: c.key, Epoch: c.job.Epoch})...))
	defer span.End()
	r := c.Claim.Settle(ctx, e)
	if r != nil {
		span.SetAttributes(ofResult(r)...)
		if n := len(r.Job.History.Attempts); n > 0 && e.Started {
			span.SetAttributes(AttemptAttribute.Int(r.Job.History.Attempts[n-1].Number))
		}
		fail(span, r)
	}
	return r
}

// deadLetter makes a span of each dead letter.
type deadLetter struct {
	handler.DeadLetter
	tracer *Tracer
}

// Send implements [handler.DeadLetter].
func (d deadLetter) Send(ctx context.Context, letters []handler.Letter) {
	spans := make([]trace.Span, len(letters))
	for i := range letters {
		l := &letters[i]
		links := appendTraceparent(linksOf(l.Message), l.Failure.Trace, linkRun)
		_, spans[i] = d.tracer.startJob(ctx, l.Message, operationLetter, "send", trace.WithLinks(links...),
			trace.WithAttributes(clean(ReasonAttribute, l.Failure.Reason, longestKey), ClassAttribute.String(l.Failure.Class)))
		if of := spans[i].SpanContext(); l.Failure.Trace == "" && of.IsValid() {
			l.Failure.Trace = traceid.Context{TraceID: of.TraceID(), SpanID: of.SpanID(), Sampled: of.IsSampled()}.W3C()
		}
	}
	d.DeadLetter.Send(ctx, letters)
	for i := range letters {
		if err := letters[i].Answer(); err != nil {
			record(spans[i], err, "unconfirmed")
		} else {
			spans[i].SetAttributes(DeadLetterAttribute.String(letters[i].DeadLetterID))
		}
		spans[i].End()
	}
}
