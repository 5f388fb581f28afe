package envelope

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
)

// SNSOptions are the settings of [SNS]. The zero value accepts
// notifications of every topic, and nothing else.
type SNSOptions struct {
	// Topics are the ARNs of the topics that messages may come from; empty
	// allows all. It protects against a topic that was subscribed by mistake.
	// Who may send to the queue at all is decided by the queue's policy.
	Topics []string
	// Raw passes bodies that are not notifications on unchanged, for a queue
	// that also gets messages by raw message delivery or from elsewhere. They
	// name no topic, so Topics does not apply to them.
	Raw bool
}

// SNS takes the message out of a notification, as SNS sends it to a queue
// unless the subscription has raw message delivery. Attributes of the
// notification of type String, Number and String.Array are returned by
// handler.Message.Attribute, as they are with raw delivery. Nil options mean
// the defaults.
func SNS(next handler.Handler, o *SNSOptions) handler.Handler {
	if o == nil {
		o = &SNSOptions{}
	}
	return wrapped{next, o.open}
}

const (
	notification = "Notification"
	rawRemedy    = "take envelope.SNS away if the subscription has raw message delivery, or set SNSOptions.Raw"
)

func (o *SNSOptions) open(m *handler.Message) error {
	content := m.Content()
	body := object(content)
	typ, _ := body.text("Type")
	topic, named := body.text("TopicArn")
	switch {
	case strings.HasSuffix(typ, "Confirmation") && named:
		return fmt.Errorf("body is an SNS %s of topic %s, want a notification: "+
			"answer it by its SubscribeURL; nothing does so by itself", quoted(typ), quoted(topic))
	case typ != notification || !named:
		if o.Raw {
			return nil
		}
		return fmt.Errorf("body is %s, want an SNS notification: %s", describe(content, body), rawRemedy)
	case len(o.Topics) > 0 && !slices.Contains(o.Topics, topic):
		return fmt.Errorf("body is an SNS notification of topic %s, want one of %q: "+
			"add the topic to SNSOptions.Topics, or remove its subscription", quoted(topic), o.Topics)
	}
	text, ok := body.text("Message")
	if !ok {
		return fmt.Errorf("body is an SNS notification of topic %s without a text in Message: "+
			"see what sends it, SNS does not", quoted(topic))
	}
	m.Unwrap(text, body.attributes())
	return nil
}

// describe says how a body differs from a notification.
func describe(content string, body members) string {
	if body == nil {
		return kind(content)
	}
	typ, ok := body.text("Type")
	switch {
	case !ok:
		return "a JSON object without Type"
	case typ != notification:
		return "a JSON object of Type " + quoted(typ)
	}
	return "a JSON object of Type Notification without TopicArn"
}

// attributes returns the attributes of a notification that are text. SNS
// accepts none with a colon in its name.
func (m members) attributes() map[string]string {
	var all map[string]struct{ Type, Value string }
	if json.Unmarshal(m["MessageAttributes"], &all) != nil {
		return nil
	}
	texts := make(map[string]string, len(all))
	for name, a := range all {
		if !strings.HasPrefix(a.Type, "Binary") && !strings.Contains(name, ":") {
			texts[name] = a.Value
		}
	}
	return texts
}
