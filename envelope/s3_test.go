package envelope_test

import (
	"context"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

const (
	s3Notification = `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","eventName":"ObjectCreated:Put",` +
		`"s3":{"bucket":{"name":"photos"},"object":{"key":"cat.png","sequencer":"01"}}}]}`
	s3Test = `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-01-02T03:04:05.678Z","Bucket":"photos",` +
		`"RequestId":"r-1","HostId":"h-1"}`
)

func TestANotificationOfS3PassesAsItIs(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"S3":              s3Notification,
		"another S3":      `{"Records":[{"eventSource":"minio:s3","s3":{"object":{}}}],"Key":"photos/cat.png"}`,
		"several records": `{"Records":[{"s3":{}},{"s3":{}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, envelope.S3, handlertest.Message{Body: body}).wantContent(t, body)
		})
	}
}

func TestS3RefusesWhatIsNoNotification(t *testing.T) {
	t.Parallel()
	for body, word := range map[string]string{
		`{"id":1}`: "without Records", `hello`: "is not JSON", ``: "is empty", `null`: "is null", `[1]`: "a JSON array",
		`{"Records":null}`: "empty Records", `{"Records":[]}`: "empty Records", `{"Records":{}}`: "no array",
		`{"Records":[1]}`: "no array",
		`{"Records":[{"s3":{}},{"eventSource":"x"}]}`: "has no s3",
		`{"Records":[{"s3":null}]}`:                   "has no s3",
		`{"Records":[],"Event":"s3:TestEvent"}`:       "empty Records",
		`{"Event":"s3:ObjectCreated:Put"}`:            "without Records",
	} {
		open(t, envelope.S3, handlertest.Message{Body: body}).wantRefused(t, word, "want a notification of S3", "envelope.S3")
	}
}

func TestTheTestEventOfS3IsDroppedBeforeItIsAJob(t *testing.T) {
	t.Parallel()
	snsAround := func(h handler.Handler) handler.Handler { return envelope.SNS(envelope.S3(h), nil) }
	for name, tt := range map[string]struct {
		wrap func(handler.Handler) handler.Handler
		body string
	}{
		"sent by S3":     {envelope.S3, s3Test},
		"by way of SNS":  {snsAround, notification(s3Test)},
		"by its name":    {envelope.S3, `{"Event":"s3:TestEvent"}`},
		"another member": {envelope.S3, `{"Event":"s3:TestEvent","New":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			q := handlertest.Queue{
				Handler: tt.wrap(handler.JSON(func(context.Context, events.S3Event) error { ran++; return nil })),
				Options: handler.Options{Ledger: ledger(t, idem.JSONField("key.it.has.not"))},
			}
			report := q.Run(t, handlertest.Message{Body: tt.body})
			report.RequireOutcomes(t, "m1", handler.OutcomeDropped)
			if job := report.Job("m1"); job.Letter != nil || ran != 0 {
				t.Errorf("letter %+v, %d runs; want none", job.Letter, ran)
			}
		})
	}
}

func TestWithoutTheEnvelopeTheTestEventIsADeadLetter(t *testing.T) {
	t.Parallel()
	q := handlertest.Queue{Handler: handler.JSON(func(context.Context, events.S3Event) error {
		t.Error("it ran")
		return nil
	})}
	report := q.Run(t, handlertest.Message{Body: s3Test})
	report.RequireOutcomes(t, "m1", handler.OutcomeDead)
	if f := report.Job("m1").Letter.Failure; f.Reason != "decode" {
		t.Errorf("reason %s: %s", f.Reason, f.Message)
	}
}

func FuzzS3(f *testing.F) {
	for _, body := range []string{s3Notification, s3Test, `{"Records":[`, "null", `{"Records":[null]}`, ""} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		o := open(t, envelope.S3, handlertest.Message{Body: body})
		if r := handler.AsResult(o.err); r != nil {
			if r.Outcome != handler.OutcomeDropped || r.Decision.Reason != envelope.ReasonS3TestEvent {
				t.Errorf("%q: %v", body, r)
			}
			return
		}
		if o.err != nil {
			o.wantRefused(t)
		}
	})
}
