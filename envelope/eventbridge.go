package envelope

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// EventBridge takes the detail out of an event that a rule of EventBridge sent
// to a queue. The other members are returned by [EventFrom] and, as text, by
// handler.Message.Attribute under the names id, source, detail-type, time,
// account and region, unless the message itself has an attribute of that name.
// With the prefix "eventbridge:", as in eventbridge:id, the event's member is
// always returned, since SQS accepts no attribute with a colon in its name. The
// id is a good idempotency key: it is the same however often EventBridge
// delivers the event.
func EventBridge(next handler.Handler) handler.Handler { return wrapped{next, openEvent} }

var (
	required = []string{"id", "source", "detail-type"}
	carried  = []string{"id", "source", "detail-type", "time", "account", "region"}
)

// ofEvent is the prefix of names that refer only to the event's own members.
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

// Event holds the members of an event other than its detail.
type Event struct {
	// ID is the id of the event. An archive that replays the event keeps it.
	ID string
	// Source and DetailType are set by the producer.
	Source, DetailType string
	// Time is when the event happened; zero if the event does not say.
	Time time.Time
	// Account and Region are where the event happened.
	Account, Region string
}

// EventFrom returns the event of the message that the handler with this context
// works on. ok is false outside of a handler, and for a message that
// [EventBridge] has not opened.
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
