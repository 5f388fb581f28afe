package dlq

import (
	"maps"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// Restore makes a message whole which was dead-lettered before: displaced
// attributes are back in place, the attribute [AttributeName] is gone, and
// [handler.Message].Replay tells what it said. It is for [handler.Options].Restore.
// An attribute of that name that is no record, or that has what no record of ours
// can have, is the producer's own and stays.
func Restore(m *handler.Message) {
	if r, attributes, ok := unpack(m); ok {
		m.MessageAttributes = attributes
		m.Replay = &handler.Replay{Key: r.Key, Epoch: r.Epoch, Verdict: r.Verdict, MessageID: r.MessageID}
	}
}

// unpack gives the record that a message carries, and the attributes that the
// message had before.
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
