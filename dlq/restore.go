package dlq

import (
	"maps"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// Restore undoes dead-lettering on a replayed message: it moves displaced attributes
// back, removes the attribute [AttributeName], and sets [handler.Message].Replay from the
// record. It is for [handler.Options].Restore. An attribute of that name that is not a
// valid record belongs to the producer and is not changed.
func Restore(m *handler.Message) {
	if r, attributes, ok := unpack(m); ok {
		m.MessageAttributes = attributes
		m.Replay = &handler.Replay{
			Key: r.Key, Epoch: r.Epoch, Verdict: r.Verdict, MessageID: r.MessageID, SenderID: r.SenderID,
			Trace: r.Trace,
		}
	}
}

// unpack returns the record that a message carries, and the attributes that the message
// had before.
func unpack(m *handler.Message) (Record, map[string]events.SQSMessageAttribute, bool) {
	carried, ok := m.MessageAttributes[AttributeName]
	if !ok || carried.StringValue == nil {
		return Record{}, nil, false
	}
	r, err := Decode(*carried.StringValue)
	if err != nil {
		return Record{}, nil, false
	}
	attributes := maps.Clone(m.MessageAttributes)
	delete(attributes, AttributeName)
	for name, a := range r.Displaced {
		if _, present := attributes[name]; !present {
			attributes[name] = a.received()
		}
	}
	return r, attributes, true
}
