package eventsource

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// record is a message in the function's event, with the members in the order of
// AWS's documentation.
type record struct {
	MessageID              string               `json:"messageId"`
	ReceiptHandle          string               `json:"receiptHandle"`
	Body                   string               `json:"body"`
	Attributes             map[string]string    `json:"attributes"`
	MessageAttributes      map[string]attribute `json:"messageAttributes"`
	MD5OfMessageAttributes json.RawMessage      `json:"md5OfMessageAttributes,omitempty"` // a string or null
	MD5OfBody              string               `json:"md5OfBody"`
	EventSource            string               `json:"eventSource"`
	EventSourceARN         string               `json:"eventSourceARN"`
	AWSRegion              string               `json:"awsRegion"`
}

type attribute struct {
	StringValue *string `json:"stringValue,omitempty"`
	BinaryValue []byte  `json:"binaryValue,omitempty"`
	// The lists are part of the format, but SQS does not use them.
	StringListValues []string `json:"stringListValues"`
	BinaryListValues [][]byte `json:"binaryListValues"`
	DataType         string   `json:"dataType"`
}

// delivery is a received message and its record in an event.
type delivery struct {
	Message
	receipt string
	body    string
	trace   string // the trace header; empty if it has none
	json    []byte
}

func (m Mapping) delivery(msg types.Message) delivery {
	r := record{
		MessageID:              aws.ToString(msg.MessageId),
		ReceiptHandle:          aws.ToString(msg.ReceiptHandle),
		Body:                   aws.ToString(msg.Body),
		Attributes:             msg.Attributes,
		MessageAttributes:      make(map[string]attribute, len(msg.MessageAttributes)),
		MD5OfMessageAttributes: m.digest(msg.MD5OfMessageAttributes),
		MD5OfBody:              aws.ToString(msg.MD5OfBody),
		EventSource:            "aws:sqs",
		EventSourceARN:         m.QueueARN,
		AWSRegion:              m.Region,
	}
	for name, value := range msg.MessageAttributes {
		r.MessageAttributes[name] = newAttribute(value)
	}
	if r.Attributes == nil {
		r.Attributes = map[string]string{}
	}
	count, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	return delivery{
		Message: Message{ID: r.MessageID, GroupID: r.Attributes["MessageGroupId"], ReceiveCount: count},
		receipt: r.ReceiptHandle,
		body:    r.Body,
		trace:   r.Attributes["AWSTraceHeader"],
		json:    r.encode(),
	}
}

// digest returns the digest of the message attributes. Without attributes a
// mapping with a batching window has null and one without has no such member, as
// AWS was recorded to do.
func (m Mapping) digest(md5 *string) json.RawMessage {
	if md5 == nil && m.Window == 0 {
		return nil
	}
	text, _ := json.Marshal(md5) // cannot fail: a string or nil
	return text
}

func newAttribute(v types.MessageAttributeValue) attribute {
	return attribute{
		StringValue:      v.StringValue,
		BinaryValue:      v.BinaryValue,
		StringListValues: append([]string{}, v.StringListValues...),
		BinaryListValues: append([][]byte{}, v.BinaryListValues...),
		DataType:         aws.ToString(v.DataType),
	}
}

// encode does not escape <, > and &, unlike json.Marshal.
func (r record) encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(r) // cannot fail: strings, bytes and maps of them
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

const eventHead, eventTail = `{"Records":[`, `]}`

// event returns the event with which the function is invoked.
func event(batch []delivery) []byte {
	var b bytes.Buffer
	b.WriteString(eventHead)
	for i, d := range batch {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(d.json)
	}
	b.WriteString(eventTail)
	return b.Bytes()
}

// split divides a batch into parts whose events have at most limit bytes. A
// message that is larger by itself is a part of its own.
func split(batch []delivery, limit int) [][]delivery {
	var parts [][]delivery
	start, size := 0, len(eventHead)+len(eventTail)
	for i, d := range batch {
		added := len(d.json) + 1
		if i > start && size+added > limit+1 { // the first record has no comma
			parts = append(parts, batch[start:i])
			start, size = i, len(eventHead)+len(eventTail)
		}
		size += added
	}
	return append(parts, batch[start:])
}
