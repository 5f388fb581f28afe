package dlq

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Attribute is a message attribute inside a [Record]. Its type decides which of
// the values counts.
type Attribute struct {
	// Type is String, Number or Binary, maybe with a label: "Number.int".
	Type string `json:"type"`
	// Value is the value of a String or Number.
	Value *string `json:"value,omitempty"`
	// Binary is the value of a Binary.
	Binary []byte `json:"binary,omitempty"`
}

func newAttribute(a events.SQSMessageAttribute) Attribute {
	return Attribute{Type: a.DataType, Value: a.StringValue, Binary: a.BinaryValue}
}

// received gives the attribute as Lambda delivers it.
func (a Attribute) received() events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: a.Type, StringValue: a.Value, BinaryValue: a.Binary}
}

// sendable gives the attribute as SQS takes it; false if SQS would refuse it,
// since it has no type, or no value of its type.
func (a Attribute) sendable() (types.MessageAttributeValue, bool) {
	base, _, _ := strings.Cut(a.Type, ".")
	switch base {
	case "Binary":
		return types.MessageAttributeValue{DataType: &a.Type, BinaryValue: a.Binary}, len(a.Binary) > 0
	case "String", "Number":
		return types.MessageAttributeValue{DataType: &a.Type, StringValue: a.Value}, aws.ToString(a.Value) != ""
	default:
		return types.MessageAttributeValue{}, false
	}
}

// jsonSize is what the attribute takes inside a record.
func (a Attribute) jsonSize(name string) int {
	b, err := json.Marshal(map[string]Attribute{name: a})
	if err != nil {
		return 0
	}
	return len(b)
}

// wireSize is what an attribute counts towards the size of its message: name,
// type and value, as the SQS developer guide says under "message metadata".
func wireSize(name string, v types.MessageAttributeValue) int {
	return len(name) + len(aws.ToString(v.DataType)) + len(aws.ToString(v.StringValue)) + len(v.BinaryValue)
}
