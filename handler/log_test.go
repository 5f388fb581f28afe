package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// TestTheLineOfEachMessage is what `sqsafe local` and people at night read.
func TestTheLineOfEachMessage(t *testing.T) {
	t.Parallel()
	common := map[string]any{
		"messageId": "m1", "queue": "jobs", "requestId": "req-1", "level": "INFO", "msg": "outcome",
	}
	tests := []struct {
		name   string
		record events.SQSMessage
		run    error
		want   map[string]any
	}{
		{"done", record("m1", "x"), nil, map[string]any{
			"level": "DEBUG", "outcome": "done", "receiveCount": 1.0, "attempt": 1.0,
		}},
		{"retry", received(2, record("m1", "x")), fault.Retryable(errOdd, fault.WithReason("busy")), map[string]any{
			"outcome": "retry", "class": "retryable", "reason": "busy", "rule": "tag.retryable", "receiveCount": 2.0,
			"attempt": 1.0, "delaySeconds": 2.0, "error": "odd",
		}},
		{"dead", record("m1", "x"), fault.Permanent(errOdd), map[string]any{
			"level": "ERROR", "outcome": "dead", "class": "permanent", "reason": "tagged", "rule": "tag.permanent",
			"receiveCount": 1.0, "attempt": 1.0, "error": "odd",
		}},
		{"duplicate", record("m1", "x"), &handler.Result{
			Outcome: handler.OutcomeDuplicate, Decision: fault.Decision{Reason: "completed"},
		}, map[string]any{"outcome": "duplicate", "reason": "completed", "receiveCount": 1.0}},
		{"unrecorded", record("m1", "x"), &handler.Result{Outcome: handler.OutcomeUnrecorded, Err: errOdd}, map[string]any{
			"level": "WARN", "outcome": "unrecorded", "class": "unclassified", "receiveCount": 1.0, "attempt": 1.0,
			"error": "odd",
		}},
		{"a long error is cut", record("m1", "x"), fault.Permanent(errors.New(strings.Repeat("é", 1000))), map[string]any{
			"level": "ERROR", "outcome": "dead", "class": "permanent", "reason": "tagged", "rule": "tag.permanent",
			"receiveCount": 1.0, "attempt": 1.0, "error": strings.Repeat("é", 256),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
			p := newProcessor(handler.Func(fails(tt.run)), q.options())
			if _, err := p.Handle(ctx, event(tt.record)); err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(q.logLines.String(), "\n")
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			delete(got, "time")
			want := map[string]any{}
			maps.Copy(want, common)
			maps.Copy(want, tt.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLineOfADeadLetter(t *testing.T) {
	t.Parallel()
	q := newQueues()
	handle(t, newProcessor(byBody(script), q.options()), record("m1", "permanent"))
	if got := q.logged(t, handler.LogDeadLettered, "deadLetterId"); !cmp.Equal(got, []string{"dead-m1"}) {
		t.Errorf("dead letter ids %v", got)
	}
}

func TestNoPayloadInTheLogWithoutExcerpts(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.ExcerptBytes = -1
	secret := "card 4111"
	handle(t, newProcessor(handler.JSON(func(context.Context, order) error { return errOdd }), o),
		record("m1", secret), record("m2", `{"id":"`+secret+`"}`), record("m3", `{"id":1,"x":"`+secret+`"}`))
	if strings.Contains(q.logLines.String(), "4111") {
		t.Errorf("the log has the payload:\n%s", &q.logLines)
	}
}

func TestAttemptsAreNumberedOverTheHistory(t *testing.T) {
	t.Parallel()
	job := handler.Job{Key: "k"}
	for n := 1; n <= 3; n++ {
		r := resolved(t, n, job, fault.Retryable(errOdd), nil)
		last := r.Job.History.Attempts[n-1]
		if last.Number != n || r.Job.Attempts != n || last.Start.IsZero() || last.End.Before(last.Start.Time) {
			t.Errorf("attempt %d: %+v, %d attempts", n, last, r.Job.Attempts)
		}
		job = r.Job
	}
}

func TestTheDefaultLoggerIsUsed(t *testing.T) {
	// Not parallel: it changes the default.
	var lines strings.Builder
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil)))
	handle(t, newProcessor(byBody(script), nil), record("m1", "good"), record("m2", "odd"))
	if !strings.Contains(lines.String(), "outcome=retry") || strings.Contains(lines.String(), "outcome=done") {
		t.Errorf("log %q", lines.String())
	}
}

// deadLine is the line of a dead letter of which the payload is body.
func deadLine(t *testing.T, body string, change func(*handler.Options)) map[string]any {
	t.Helper()
	q := newQueues()
	o := q.options()
	change(o)
	h := handler.Func(fails(fault.Permanent(errOdd, fault.WithReason("declined"))))
	handle(t, newProcessor(h, o), record("m1", body))
	for line := range strings.Lines(q.logLines.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["msg"] == handler.LogDeadLettered {
			return fields
		}
	}
	t.Fatal("no line of a dead letter")
	return nil
}

func TestADeadLetterTellsWhatItIsOf(t *testing.T) {
	t.Parallel()
	got := deadLine(t, `{"id":"o-1"}`, func(*handler.Options) {})
	if stack, _ := got["stack"].(string); !strings.Contains(stack, "handler_test.") {
		t.Errorf("stack %q, want where the error was tagged", stack)
	}
	delete(got, "time")
	delete(got, "stack")
	want := map[string]any{
		"level": "INFO", "msg": "dead-lettered", "messageId": "m1", "queue": "jobs", "receiveCount": 1.0,
		"class": "permanent", "reason": "declined", "rule": "tag.permanent", "attempt": 1.0,
		"runs": 1.0, "budgetUsed": 0.0, "error": errOdd.Error(),
		"excerpt": `{"id":"o-1"}`, "deadLetterId": "dead-m1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestTheExcerptOfAPayload(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1000)
	redact := func(excerpt func() string) func(*handler.Options) {
		return func(o *handler.Options) { o.Redact = func(*handler.Message) string { return excerpt() } }
	}
	for name, tt := range map[string]struct {
		change func(*handler.Options)
		want   any
	}{
		"is cut":                {func(*handler.Options) {}, long[:1024]},
		"is as long as wanted":  {func(o *handler.Options) { o.ExcerptBytes = 9 }, "ääää"},
		"is never longer":       {func(o *handler.Options) { o.ExcerptBytes = 5000 }, long[:1024]},
		"is not shown":          {func(o *handler.Options) { o.ExcerptBytes = -1 }, nil},
		"is redacted":           {redact(func() string { return "card ***" }), "card ***"},
		"is cut when redacted":  {redact(func() string { return long }), long[:1024]},
		"is nothing on a panic": {redact(func() string { panic("boom") }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := deadLine(t, long, tt.change)["excerpt"]; got != tt.want {
				t.Errorf("excerpt %q, want %q", got, tt.want)
			}
		})
	}
}
