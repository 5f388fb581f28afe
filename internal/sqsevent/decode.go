package sqsevent

import (
	"encoding/json"
	"slices"

	"github.com/aws/aws-lambda-go/events"
)

// Decode decodes an event. The error is that of encoding/json. The event does
// not refer to data. Decode is safe for concurrent use.
func Decode(data []byte) (events.SQSEvent, error) {
	if event, ok := decodeFast(data); ok {
		return event, nil
	}
	var event events.SQSEvent
	err := json.Unmarshal(data, &event)
	return event, err
}

// decodeFast decodes events in the format of Lambda. ok is false for everything
// else.
func decodeFast(data []byte) (event events.SQSEvent, ok bool) {
	r := newReader(data)
	seen := false
	r.object(func(name []byte) {
		if string(name) != "Records" || seen {
			r.fail()
			return
		}
		seen = true
		event.Records = []events.SQSMessage{}
		r.array(func() {
			n := len(event.Records)
			if n == cap(event.Records) { // the others are probably as long as those so far
				event.Records = slices.Grow(event.Records, 1+n*(len(data)-r.at)/r.at)
			}
			event.Records = append(event.Records, events.SQSMessage{})
			r.record(&event.Records[n])
		})
	})
	r.space()
	return event, !r.failed && r.at == len(data)
}

// record decodes one message. It fails if a member occurs twice.
func (r *reader) record(m *events.SQSMessage) {
	var seen uint16
	once := func(bit uint16) {
		r.failed = r.failed || seen&bit != 0
		seen |= bit
	}
	text := func(bit uint16) string {
		once(bit)
		return r.str()
	}
	r.object(func(name []byte) {
		switch string(name) {
		case "messageId":
			m.MessageId = text(1 << 0)
		case "receiptHandle":
			m.ReceiptHandle = text(1 << 1)
		case "body":
			m.Body = text(1 << 2)
		case "md5OfBody":
			m.Md5OfBody = text(1 << 3)
		case "eventSourceARN":
			m.EventSourceARN = text(1 << 4)
		case "eventSource":
			m.EventSource = text(1 << 5)
		case "awsRegion":
			m.AWSRegion = text(1 << 6)
		case "md5OfMessageAttributes":
			once(1 << 7)
			if !r.null() {
				m.Md5OfMessageAttributes = r.str()
			}
		case "attributes":
			once(1 << 8)
			m.Attributes = r.attributes()
		case "messageAttributes":
			once(1 << 9)
			m.MessageAttributes = r.messageAttributes()
		default:
			r.fail()
		}
	})
}

func (r *reader) attributes() map[string]string {
	attributes := make(map[string]string, 8)
	r.object(func(name []byte) { attributes[r.attribute(name)] = r.str() })
	return attributes
}

// attribute returns the name of an attribute of SQS.
func (r *reader) attribute(name []byte) string {
	for _, known := range &attributeNames {
		if string(name) == known {
			return known
		}
	}
	return r.keep(name)
}

// attributeNames are those that each message has.
var attributeNames = [...]string{
	"ApproximateReceiveCount", "SentTimestamp", "SenderId", "ApproximateFirstReceiveTimestamp",
}

// messageAttributes fails for attributes that are not text.
func (r *reader) messageAttributes() map[string]events.SQSMessageAttribute {
	attributes := map[string]events.SQSMessageAttribute{}
	r.object(func(name []byte) {
		if _, twice := attributes[string(name)]; twice {
			r.fail()
		}
		attributes[r.keep(name)] = r.messageAttribute()
	})
	return attributes
}

func (r *reader) messageAttribute() (a events.SQSMessageAttribute) {
	r.object(func(name []byte) {
		switch name := string(name); {
		case name == "stringValue" && a.StringValue == nil:
			value := r.str()
			a.StringValue = &value
		case name == "dataType" && a.DataType == "":
			a.DataType = r.str()
		case name == "stringListValues" && a.StringListValues == nil:
			a.StringListValues = []string{}
			r.empty()
		case name == "binaryListValues" && a.BinaryListValues == nil:
			a.BinaryListValues = [][]byte{}
			r.empty()
		default:
			r.fail()
		}
	})
	return a
}
