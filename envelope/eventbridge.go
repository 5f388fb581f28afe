package envelope

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// EventBridge takes the detail out of an event, as a rule of EventBridge sends it
// to a queue. The rest is found by [EventFrom] and, as text, by
// handler.Message.Attribute under the names id, source, detail-type, time,
// account and region, behind attributes of the message itself. With
// "eventbridge:" in front, as in eventbridge:id, nothing comes before the event,
// since SQS takes no attribute with a colon in its name. The id is a good
// idempotency key: it is the same however often EventBridge delivers the event.
func EventBridge(next handler.Handler) handler.Handler { return wrapped{next, openEvent} }

var (
	required = []string{"id", "source", "detail-type"}
	carried  = []string{"id", "source", "detail-type", "time", "account", "region"}
)

// ofEvent begins the names that only an event's own members have.
const ofEvent = "eventbridge:"

func openEvent(m *handler.Message) error {
	content := m.Content()
	body := object(content)
	if body == nil {
		return fmt.Errorf("body is %s, want an EventBridge event: "+
			"take envelope.EventBridge away if the payload comes as it is", kind(content))
	}
	attributes := map[string]string{}
	for _, name := range carried {
		if value, ok := body.text(name); ok {
			attributes[name], attributes[ofEvent+name] = value, value
		}
	}
	missing := slices.DeleteFunc(slices.Clone(required), func(name string) bool { return attributes[name] != "" })
	if detail := string(body["detail"]); detail == "" || detail == "null" {
		missing = append(missing, "detail")
	}
	if len(missing) > 0 {
		return fmt.Errorf("body is a JSON object without %s, want an EventBridge event: "+
			"take the input transformer off the rule's target, or envelope.EventBridge away", strings.Join(missing, ", "))
	}
	m.Unwrap(string(body["detail"]), attributes)
	return nil
}

// Event is what EventBridge says about a detail.
type Event struct {
	// ID is the event's; replays of an archive keep it.
	ID string
	// Source and DetailType are what the producer called itself and its event.
	Source, DetailType string
	// Time is when it happened; zero where the event does not say.
	Time time.Time
	// Account and Region are where it happened.
	Account, Region string
}

// EventFrom is the event that the handler with this context works on. ok is false
// outside of one, and for a message that [EventBridge] has not opened.
func EventFrom(ctx context.Context) (event Event, ok bool) {
	m := handler.FromContext(ctx)
	if m == nil {
		return Event{}, false
	}
	text := func(name string) string { value, _ := m.Attribute(ofEvent + name); return value }
	event = Event{
		ID: text("id"), Source: text("source"), DetailType: text("detail-type"),
		Account: text("account"), Region: text("region"),
	}
	event.Time, _ = time.Parse(time.RFC3339, text("time"))
	return event, event.ID != ""
}
