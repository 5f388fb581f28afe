package sqsafetest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

// JSON is a message whose body is the payload as JSON. It panics for a payload that
// cannot be JSON, such as a channel. A body that a test has as text is
// handlertest.Message{Body: text}.
func JSON(payload any) handlertest.Message {
	return handlertest.Message{Body: encode(payload)}
}

// Records are messages as they stand in an event of Lambda, such as one of a file or of
// a log. Body, id, group, receive count and attributes are those of the record. Its time
// is not: the messages are sent when the test sends them. Nor is its queue, since the
// [Queue] has a name.
func Records(records ...events.SQSMessage) []handlertest.Message {
	messages := make([]handlertest.Message, len(records))
	for i, r := range records {
		m := handlertest.Message{Body: r.Body, ID: r.MessageId, Group: r.Attributes["MessageGroupId"]}
		m.Receives, _ = strconv.Atoi(r.Attributes["ApproximateReceiveCount"]) // 0 means 1
		m.Attributes = map[string]any{}
		for name, a := range r.MessageAttributes {
			m.Attributes[name] = a
		}
		messages[i] = m
	}
	return messages
}

// SNS wraps a message as SNS does between a topic and a queue, unless the subscription
// has raw message delivery: body and attributes are in the notification. It is for a
// function with [envelope.SNS]. Topic is the ARN of the topic; empty means
// arn:aws:sns:eu-west-1:123456789012:topic.
func SNS(topic string, m handlertest.Message) handlertest.Message {
	type attribute struct{ Type, Value string }
	if topic == "" {
		topic = "arn:aws:sns:eu-west-1:123456789012:topic"
	}
	attributes := map[string]attribute{}
	for name, a := range m.Record().MessageAttributes {
		if _, own := m.Attributes[name]; own && a.StringValue != nil {
			attributes[name] = attribute{a.DataType, *a.StringValue}
		}
	}
	m.Body, m.Attributes = encode(map[string]any{
		"Type": "Notification", "MessageId": rand.Text(), "TopicArn": topic, "Message": m.Body,
		"Timestamp": now(), "MessageAttributes": attributes,
	}), nil
	return m
}

// EventBridge wraps a message as a rule of EventBridge does: the body, which must be JSON,
// is the detail of the event. It is for a function with [envelope.EventBridge]. What the
// event does not say has a default; its ID is then another one at each call.
func EventBridge(event envelope.Event, m handlertest.Message) handlertest.Message {
	happened := now()
	if !event.Time.IsZero() {
		happened = event.Time.UTC().Format(time.RFC3339)
	}
	m.Body = encode(map[string]any{
		"version": "0", "id": cmp.Or(event.ID, rand.Text()), "source": cmp.Or(event.Source, "test"),
		"detail-type": cmp.Or(event.DetailType, "Test"), "account": cmp.Or(event.Account, "123456789012"),
		"region": cmp.Or(event.Region, "eu-west-1"), "time": happened, "resources": []string{},
		"detail": json.RawMessage(m.Body),
	})
	return m
}

func encode(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sqsafetest: a body of type %T cannot be JSON: %v", v, err))
	}
	return string(encoded)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }
