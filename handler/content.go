package handler

import "maps"

// Content is what decoders read: the body, or what [Message.Unwrap] has found in
// it. What goes to the dead-letter queue is the body.
func (m *Message) Content() string {
	if m.unwrapped {
		return m.content
	}
	return m.Body
}

// Unwrap sets the content of a message whose body is an envelope around it, and
// the attributes that the envelope carries. A Prepare that knows the envelope
// calls it, so that decoding, key and payload hash are those of the content. For
// an envelope in another, the attributes of both are kept; the inner one's count
// first.
func (m *Message) Unwrap(content string, attributes map[string]string) {
	m.unwrapped, m.content = true, content
	if m.enclosed == nil {
		m.enclosed = make(map[string]string, len(attributes))
	}
	maps.Copy(m.enclosed, attributes)
}

// Attribute is the text of a message attribute of type String or Number, be it
// the message's own or one that its envelope carries; the message's own counts
// first. ok is false where there is none.
func (m *Message) Attribute(name string) (text string, ok bool) {
	if a, found := m.MessageAttributes[name]; found && a.StringValue != nil {
		return *a.StringValue, true
	}
	text, ok = m.enclosed[name]
	return text, ok
}
