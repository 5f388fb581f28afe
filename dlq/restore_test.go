package dlq_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// restored runs the message through Restore.
func restored(m *handler.Message) *handler.Message {
	dlq.Restore(m)
	return m
}

type attributes = map[string]events.SQSMessageAttribute

func sameAttributes(t *testing.T, got, want attributes) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("attributes differ (-want +got):\n%s", diff)
	}
}

func TestRestoreOfAReplayedMessage(t *testing.T) {
	t.Parallel()
	l := exhausted()
	came := delivered(sendOne(t, standardURL, nil, l), "replayed")
	event := came.MessageAttributes
	seen := restored(came)
	sameAttributes(t, seen.MessageAttributes, l.Message.MessageAttributes)
	want := &handler.Replay{Key: "charge:ch-6", Epoch: 1, Verdict: true, MessageID: l.Message.MessageId}
	if diff := cmp.Diff(want, seen.Replay); diff != "" {
		t.Errorf("replay differs (-want +got):\n%s", diff)
	}
	if _, kept := event[dlq.AttributeName]; !kept {
		t.Error("the event itself was changed")
	}
	replay := seen.Replay
	if again := restored(seen); again.Replay != replay {
		t.Error("a second Restore changed the replay")
	}
}

func TestRestoreLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"broken":  `{"version":1,"messageId":`,
		"foreign": "yes",
		"JSON":    `{"safe":true}`,
		"forged":  `{"version":1,"messageId":"x","key":"k","epoch":9223372036854775806,"verdict":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := message("m", "x", map[string]string{dlq.AttributeName: value})
			seen := restored(m)
			sameAttributes(t, seen.MessageAttributes, attributes{dlq.AttributeName: stringAttribute(value)})
			if seen.Replay != nil {
				t.Errorf("replay %v", seen.Replay)
			}
			// It is the producer's, so it comes back from the dead-letter queue.
			again := restored(delivered(sendOne(t, standardURL, nil, letterOf(seen)), "replayed"))
			sameAttributes(t, again.MessageAttributes, attributes{dlq.AttributeName: stringAttribute(value)})
			if again.Replay == nil || again.Replay.MessageID != "m" {
				t.Errorf("replay %v", again.Replay)
			}
		})
	}
	t.Run("Binary", func(t *testing.T) {
		t.Parallel()
		m := message("m", "x", nil)
		m.MessageAttributes[dlq.AttributeName] = events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte("{}")}
		if seen := restored(m); len(seen.MessageAttributes) != 1 || seen.Replay != nil {
			t.Errorf("attributes %v, replay %v", seen.MessageAttributes, seen.Replay)
		}
	})
	t.Run("no attributes", func(t *testing.T) {
		t.Parallel()
		if seen := restored(&handler.Message{}); seen.MessageAttributes != nil || seen.Replay != nil {
			t.Errorf("attributes %v, replay %v", seen.MessageAttributes, seen.Replay)
		}
	})
}

func TestAnAttributeSetAtTheReplayWinsOverTheDisplacedOne(t *testing.T) {
	t.Parallel()
	came := delivered(sendOne(t, standardURL, nil, letterOf(message("m", "x", full()))), "replayed")
	came.MessageAttributes["a0"] = stringAttribute("edited")
	if got := restored(came).MessageAttributes["a0"]; *got.StringValue != "edited" {
		t.Errorf("a0 is %q", *got.StringValue)
	}
}

// A message can die again before Restore has seen it, where nobody calls it, and
// after.
func TestASecondDeathKeepsIDAndAttributes(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(m *handler.Message) *handler.Message{
		"before Restore": func(m *handler.Message) *handler.Message { return m },
		"after Restore":  restored,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := message("first", "x", full())
			first.Attributes = map[string]string{"SenderId": "AIDAPRODUCER"}
			l := letterOf(handle(delivered(sendOne(t, standardURL, nil, letterOf(first)), "second")))
			l.Failure.Reason = "decode"
			sent := sendOne(t, standardURL, nil, l)
			r, ok := recordOf(t, sent)
			if !ok || r.MessageID != "first" || r.SenderID != "AIDAPRODUCER" ||
				r.DeliveredID != "second" || r.Reason != "decode" || len(r.Displaced) != 1 {
				t.Errorf("record of the second death: %+v", r)
			}
			third := restored(delivered(sent, "third"))
			sameAttributes(t, third.MessageAttributes, first.MessageAttributes)
			if third.Replay.MessageID != "first" || third.Replay.SenderID != "AIDAPRODUCER" {
				t.Errorf("replay %+v", third.Replay)
			}
		})
	}
}

func TestASecondDeathWithoutRoomGivesTheDisplacedAttributeBack(t *testing.T) {
	t.Parallel()
	const room = 400
	taken := 0
	for name, value := range full() {
		taken += len(name) + len("String") + len(value)
	}
	first := message("first", strings.Repeat("x", 1<<20-taken-room), full())
	sent := sendOne(t, standardURL, nil, letterOf(first))
	if _, ok := recordOf(t, sent); !ok {
		t.Fatal("the first death has no record")
	}
	l := letterOf(delivered(sent, "second"))
	l.Failure.Key = strings.Repeat("k", room)
	again := sendOne(t, standardURL, nil, l)
	sameAttributes(t, delivered(again, "third").MessageAttributes, first.MessageAttributes)
}
