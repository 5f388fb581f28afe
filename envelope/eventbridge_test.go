package envelope_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

const orderPlaced = `{"version":"0","id":"e-1","detail-type":"Order Placed","source":"shop","account":"123456789012",` +
	`"time":"2026-01-02T03:04:05Z","region":"eu-west-1","resources":[],"detail":{"id": "o-1",  "n": 1.0}}`

func TestEventBridgeTakesTheDetailOutUnchanged(t *testing.T) {
	t.Parallel()
	o := open(t, envelope.EventBridge, handlertest.Message{Body: orderPlaced})
	o.wantContent(t, `{"id": "o-1",  "n": 1.0}`)
	want := map[string]string{
		"id": "e-1", "detail-type": "Order Placed", "source": "shop", "account": "123456789012",
		"time": "2026-01-02T03:04:05Z", "region": "eu-west-1",
	}
	for name, text := range want {
		if got, ok := o.message.Attribute(name); !ok || got != text {
			t.Errorf("attribute %s is %q, want %q", name, got, text)
		}
	}
}

func TestEventFromReturnsTheEvent(t *testing.T) {
	t.Parallel()
	var got envelope.Event
	var ok bool
	q := handlertest.Queue{Handler: envelope.EventBridge(handler.JSON(
		func(ctx context.Context, _ map[string]any) error { got, ok = envelope.EventFrom(ctx); return nil },
	))}
	q.Run(t, handlertest.Message{Body: orderPlaced}).RequireOutcomes(t, "m1", handler.OutcomeDone)
	want := envelope.Event{
		ID: "e-1", Source: "shop", DetailType: "Order Placed", Account: "123456789012", Region: "eu-west-1",
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("event, %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := envelope.EventFrom(t.Context()); ok {
		t.Error("there is an event outside of a handler")
	}
	q.Handler = handler.Func(func(ctx context.Context, _ *handler.Message) error {
		_, ok = envelope.EventFrom(ctx)
		return nil
	})
	if q.Run(t, handlertest.Message{Body: orderPlaced}); ok {
		t.Error("there is an event though the envelope was not opened")
	}
}

// eventOf returns the event that EventFrom returns to a handler of the message.
func eventOf(
	t *testing.T, wrap func(handler.Handler) handler.Handler, m handlertest.Message,
) (event envelope.Event, ok bool) {
	t.Helper()
	q := handlertest.Queue{Handler: wrap(handler.Func(func(ctx context.Context, _ *handler.Message) error {
		event, ok = envelope.EventFrom(ctx)
		return nil
	}))}
	q.Run(t, m).RequireOutcomes(t, "m1", handler.OutcomeDone)
	return event, ok
}

func TestEventFromIgnoresMessageAttributes(t *testing.T) {
	t.Parallel()
	attributes := map[string]any{"id": "other", "detail-type": "other", "source": "other"}
	raw := func(h handler.Handler) handler.Handler { return h }
	if event, ok := eventOf(t, raw, handlertest.Message{Attributes: attributes}); ok {
		t.Errorf("attributes alone make the event %+v", event)
	}
	sns := func(h handler.Handler) handler.Handler { return envelope.SNS(h, nil) }
	forged := `{"Type":"Notification","TopicArn":"a","Message":"x",` +
		`"MessageAttributes":{"eventbridge:id":{"Type":"String","Value":"x"}}}`
	if event, ok := eventOf(t, sns, handlertest.Message{Body: forged}); ok {
		t.Errorf("a notification makes the event %+v", event)
	}
	event, ok := eventOf(t, envelope.EventBridge, handlertest.Message{Body: orderPlaced, Attributes: attributes})
	if !ok || event.ID != "e-1" || event.DetailType != "Order Placed" || event.Source != "shop" {
		t.Errorf("event %+v, %v; want what the body says", event, ok)
	}
}

func TestKeyIsTheEventIDDespiteAttributes(t *testing.T) {
	t.Parallel()
	m := open(t, envelope.EventBridge, handlertest.Message{
		Body: orderPlaced, Attributes: map[string]any{"id": "other"},
	}).message
	for name, want := range map[string]string{"eventbridge:id": "e-1", "id": "other"} {
		if got, err := idem.Attribute(name)(t.Context(), m); err != nil || got != want {
			t.Errorf("key by %s is %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestEventBridgeRefusesOtherBodies(t *testing.T) {
	t.Parallel()
	for body, words := range map[string][]string{
		`hello`:    {"body is not JSON", "want an EventBridge event", "take envelope.EventBridge away"},
		`"x"`:      {"body is a JSON string"},
		`null`:     {"body is null"},
		`{"id":1}`: {"without id, source, detail-type, detail", "input transformer"},
		`{"id":"e-1","source":"s","detail-type":"d"}`:                  {"without detail,"},
		`{"id":"e-1","source":"s","detail-type":"d","detail":null}`:    {"without detail,"},
		`{"id":"","source":"s","detail-type":"d","detail":{}}`:         {"without id,"},
		`{"ID":"e-1","Source":"s","Detail-Type":"d","Detail":{"a":1}}`: {"without id, source, detail-type, detail,"},
	} {
		open(t, envelope.EventBridge, handlertest.Message{Body: body}).wantRefused(t, words...)
	}
}

func TestEnvelopesCanBeNested(t *testing.T) {
	t.Parallel()
	both := func(h handler.Handler) handler.Handler { return envelope.SNS(envelope.EventBridge(h), nil) }
	o := open(t, both, handlertest.Message{Body: notification(orderPlaced)})
	o.wantContent(t, `{"id": "o-1",  "n": 1.0}`)
	for name, want := range map[string]string{"tenant": "t-1", "source": "shop"} {
		if got, _ := o.message.Attribute(name); got != want {
			t.Errorf("attribute %s is %q, want %q", name, got, want)
		}
	}
	open(t, both, handlertest.Message{Body: orderPlaced}).wantRefused(t, "SNS notification")
	open(t, both, handlertest.Message{Body: notification("x")}).wantRefused(t, "EventBridge event")
}

func FuzzEventBridge(f *testing.F) {
	for _, body := range []string{orderPlaced, `{}`, `null`, `{"detail":1}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		o := open(t, envelope.EventBridge, handlertest.Message{Body: body})
		if o.err != nil {
			o.wantRefused(t)
			return
		}
		if id, _ := o.message.Attribute("id"); id == "" || o.content == "" || o.content == "null" {
			t.Errorf("opened %q with id %q", o.content, id)
		}
	})
}
