package dlq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// legalText are strings that SQS takes, of n characters.
func legalText(from, to int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab7\t\n\"\\<é€😀\u2028\ufffd")), from, to, -1)
}

func anyAttribute() *rapid.Generator[events.SQSMessageAttribute] {
	return rapid.Custom(func(t *rapid.T) events.SQSMessageAttribute {
		label := rapid.SampledFrom([]string{"", ".custom", ".int"}).Draw(t, "label")
		switch base := rapid.SampledFrom([]string{"String", "Number", "Binary"}).Draw(t, "type"); base {
		case "Binary":
			value := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "bytes")
			return events.SQSMessageAttribute{DataType: base + label, BinaryValue: value}
		case "Number":
			value := fmt.Sprint(rapid.Int().Draw(t, "number"))
			return events.SQSMessageAttribute{DataType: base + label, StringValue: &value}
		default:
			value := legalText(1, 100).Draw(t, "text")
			return events.SQSMessageAttribute{DataType: base + label, StringValue: &value}
		}
	})
}

// anyMessage is a message that SQS could have delivered, some of them as large
// as can be or nearly so.
func anyMessage() *rapid.Generator[*handler.Message] {
	return rapid.Custom(func(t *rapid.T) *handler.Message {
		m := message("first", "", nil)
		names := rapid.OneOf(rapid.Just(dlq.AttributeName), rapid.StringMatching(`[b-z_-]{1,10}(\.[a-z_-]{1,9})?`))
		m.MessageAttributes = rapid.MapOfN(names, anyAttribute(), 0, 10).Draw(t, "attributes")
		taken := 0
		for name, a := range m.MessageAttributes {
			taken += len(name) + len(a.DataType) + len(a.BinaryValue)
			if a.StringValue != nil {
				taken += len(*a.StringValue)
			}
		}
		if rapid.Bool().Draw(t, "large") {
			room := rapid.IntRange(0, 2000).Draw(t, "room")
			m.Body = strings.Repeat("x", 1<<20-taken-room)
		} else {
			m.Body = legalText(1, 50).Draw(t, "body")
		}
		return m
	})
}

// anyFailure has text of any kind, legal or not.
func anyFailure() *rapid.Generator[handler.Failure] {
	return rapid.Custom(func(t *rapid.T) handler.Failure {
		text := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Just("\x00\ufffe\uffff"),
			rapid.Just(strings.Repeat("\x01é\"", 3_000)),
		)
		f := handler.Failure{
			Class: "permanent", Reason: "panic", Message: text.Draw(t, "message"), Stack: text.Draw(t, "stack"),
			Types: []string{text.Draw(t, "type")}, Key: rapid.String().Draw(t, "key"),
			Epoch: rapid.IntRange(0, 9).Draw(t, "epoch"), Verdict: rapid.Bool().Draw(t, "verdict"),
		}
		for n := range rapid.IntRange(0, 25).Draw(t, "attempts") {
			message := text.Draw(t, "attempt")
			f.History = f.History.Append(handler.Attempt{Number: n + 1, Message: message[:min(len(message), 256)]})
		}
		return f
	})
}

// Whatever dies however often: what is sent is legal, the body stays as it is,
// and the user's function sees the message that the producer sent.
func TestNothingIsLostOverTheDeaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		first := anyMessage().Draw(rt, "message")
		url := rapid.SampledFrom([]string{standardURL, fifoURL}).Draw(rt, "queue")
		m := first
		recorded := true
		for death := range 3 {
			f := anyFailure().Draw(rt, "failure")
			api := &fakeQueue{}
			sent := send(t.Context(), t, api, url, quiet, handler.Letter{Message: m, Failure: f})
			if err := sent[0].Answer(); err != nil {
				rt.Fatalf("death %d: not sent: %v", death, err)
			}
			arrived := api.arrived[0]
			if *arrived.MessageBody != first.Body {
				rt.Fatalf("death %d: the body changed", death)
			}
			m = delivered(arrived, fmt.Sprint("replay-", death))
			seen := restored(delivered(arrived, m.MessageId))
			if diff := cmp.Diff(first.MessageAttributes, seen.MessageAttributes, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("death %d: attributes differ (-want +got):\n%s", death, diff)
			}
			recorded = recorded && seen.Replay != nil
			if recorded && (seen.Replay.MessageID != "first" || seen.Replay.Key != f.Key || seen.Replay.Epoch != f.Epoch) {
				rt.Fatalf("death %d: replay %+v", death, seen.Replay)
			}
			if rapid.Bool().Draw(rt, "restored") {
				m = seen
			}
		}
	})
}
