package handlertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

func TestAMessageIsOneOfAnEvent(t *testing.T) {
	t.Parallel()
	sent := time.UnixMilli(1767323045123)
	got := handlertest.Message{
		ID: "x", Body: "b", Queue: "stock.fifo", Group: "g", Receives: 3, Sent: sent,
		Attributes: map[string]any{
			"tenant": "t-1", "photo": []byte{0, 255}, "count": 2, "cents": int64(1250), "rate": 0.25,
			"own": events.SQSMessageAttribute{DataType: "String.iso", BinaryValue: nil},
		},
	}.Record()
	text := func(dataType, value string) events.SQSMessageAttribute {
		return events.SQSMessageAttribute{DataType: dataType, StringValue: &value}
	}
	want := events.SQSMessage{
		MessageId: "x", ReceiptHandle: "receipt-x", Body: "b",
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:stock.fifo", AWSRegion: "eu-west-1",
		Attributes: map[string]string{
			"ApproximateReceiveCount": "3", "ApproximateFirstReceiveTimestamp": "1767323045123",
			"SentTimestamp": "1767323045123", "SenderId": "AIDAEXAMPLE",
			"MessageGroupId": "g", "MessageDeduplicationId": "x",
		},
		MessageAttributes: map[string]events.SQSMessageAttribute{
			"tenant": text("String", "t-1"), "photo": {DataType: "Binary", BinaryValue: []byte{0, 255}},
			"count": text("Number", "2"), "cents": text("Number", "1250"), "rate": text("Number", "0.25"),
			"own": {DataType: "String.iso"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestAnEmptyMessageIsWhole(t *testing.T) {
	t.Parallel()
	event := handlertest.Event(handlertest.Message{}, handlertest.Message{ID: "x", Queue: "stock.fifo"})
	first, second := event.Records[0], event.Records[1]
	told := first.Attributes
	if first.MessageId != "m1" || told["ApproximateReceiveCount"] != "1" || told["SentTimestamp"] == "" {
		t.Errorf("first is %+v", first)
	}
	if _, grouped := told["MessageGroupId"]; grouped {
		t.Error("a message of a standard queue has a group nobody gave it")
	}
	if second.MessageId != "x" || second.Attributes["MessageGroupId"] != "default" {
		t.Errorf("second is %+v", second)
	}
	if none := handlertest.Event(); none.Records == nil {
		t.Error("an event of no messages has no Records, which is no SQS event")
	}
}

func TestAnAttributeOfAnotherTypePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		want := `handlertest.Message: attribute "ok" is of type bool; ` +
			"use a string, []byte, int, int64, float64 or events.SQSMessageAttribute"
		if got := recover(); got != want {
			t.Errorf("panic is %v, want %s", got, want)
		}
	}()
	handlertest.Message{Attributes: map[string]any{"ok": true}}.Record()
}

func TestAReplayCarriesTheRecordThatPackageDLQReads(t *testing.T) {
	t.Parallel()
	want := &handler.Replay{Key: "ch-1", Epoch: 2, Verdict: true, MessageID: "first"}
	m := handlertest.Message{Replay: want, Attributes: map[string]any{"tenant": "t-1"}}
	raw := &handler.Message{SQSMessage: m.Record()}
	dlq.Restore(raw)
	if diff := cmp.Diff(want, raw.Replay); diff != "" {
		t.Errorf("dlq.Restore reads (-want +got):\n%s", diff)
	}
	received := m.Received()
	if diff := cmp.Diff(want, received.Replay); diff != "" {
		t.Errorf("Received has (-want +got):\n%s", diff)
	}
	if len(received.MessageAttributes) != 1 {
		t.Errorf("attributes are %v, want that of the producer", received.MessageAttributes)
	}
}

func TestReplayedIsTheLetterUnderANewID(t *testing.T) {
	t.Parallel()
	q := protected()
	q.Name = "stock.fifo"
	first := q.Run(t, handlertest.Message{
		Body: "bad", Group: "g", Attributes: map[string]any{"tenant": "t-1"},
	}).RequireDeadLetter(t, "m1", "no_user")
	again := handlertest.Replayed(first)
	if again.ID != "m1-replay" || again.Body != "bad" || again.Group != "g" || again.Queue != "stock.fifo" {
		t.Errorf("replayed is %+v", again)
	}
	want := &handler.Replay{Key: "m1", Verdict: true, MessageID: "m1"}
	if diff := cmp.Diff(want, again.Replay); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	second := q.Run(t, again).RequireDeadLetter(t, "m1-replay", "no_user")
	if tenant, _ := second.Message.Attribute("tenant"); tenant != "t-1" {
		t.Errorf("attribute is %q, want t-1", tenant)
	}
	if third := handlertest.Replayed(second); third.Replay.MessageID != "m1" || third.Replay.Epoch != 1 {
		t.Errorf("replay of the replay is %+v, want message m1 and epoch 1", third.Replay)
	}
}

func TestARecordThatIsNoneStays(t *testing.T) {
	t.Parallel()
	for _, value := range []any{"mine", `{"version":9}`, []byte("x")} {
		m := handlertest.Message{Attributes: map[string]any{"sqsafe": value}}.Received()
		if m.Replay != nil || len(m.MessageAttributes) != 1 {
			t.Errorf("%v: replay %v, attributes %v", value, m.Replay, m.MessageAttributes)
		}
	}
}

func TestTheUsersRestoreTakesThePlace(t *testing.T) {
	t.Parallel()
	called := false
	q := bare()
	q.Options.Restore = func(*handler.Message) { called = true }
	q.Handler = handler.Func(func(_ context.Context, m *handler.Message) error {
		if m.Replay != nil {
			t.Error("the record was read in spite of the user's Restore")
		}
		return nil
	})
	q.Invoke(t, handlertest.Message{Replay: &handler.Replay{}})
	if !called {
		t.Error("the user's Restore was not called")
	}
}
