package handlertest

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
)

func (m Message) messageAttributes() map[string]events.SQSMessageAttribute {
	attributes := map[string]events.SQSMessageAttribute{}
	for name, value := range m.Attributes {
		attributes[name] = attribute(name, value)
	}
	if m.Replay != nil {
		attributes[recordAttribute] = text("String", encodeReplay(*m.Replay))
	}
	return attributes
}

func attribute(name string, value any) events.SQSMessageAttribute {
	switch v := value.(type) {
	case events.SQSMessageAttribute:
		return v
	case string:
		return text("String", v)
	case []byte:
		return events.SQSMessageAttribute{DataType: "Binary", BinaryValue: v}
	case int:
		return text("Number", strconv.Itoa(v))
	case int64:
		return text("Number", strconv.FormatInt(v, 10))
	case float64:
		return text("Number", strconv.FormatFloat(v, 'g', -1, 64))
	}
	panic(fmt.Sprintf("handlertest.Message: attribute %q is of type %T; "+
		"use a string, []byte, int, int64, float64 or events.SQSMessageAttribute", name, value))
}

func text(dataType, value string) events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: dataType, StringValue: &value}
}
