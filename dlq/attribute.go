package dlq

import (
	"encoding/json"
	"math"
	"strconv"
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

// received returns the attribute as Lambda delivers it.
func (a Attribute) received() events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: a.Type, StringValue: a.Value, BinaryValue: a.Binary}
}

const (
	// maxName is how many bytes SQS takes as the name of an attribute, or its type.
	maxName = 256
	// nameCharacters are those that a name may have beside ".".
	nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)

// sendable returns the attribute of that name as SQS accepts it; false if SQS would
// refuse it, and the letter with it. Lambda delivers attributes without a value, and a
// record from another writer may contain anything. The rules are those of
// MessageAttributeValue in the API reference, and of "message attribute components" in
// the SQS developer guide.
func (a Attribute) sendable(name string) (types.MessageAttributeValue, bool) {
	if !legalName(name) || len(a.Type) > maxName || clean(a.Type) != a.Type {
		return types.MessageAttributeValue{}, false
	}
	base, _, _ := strings.Cut(a.Type, ".")
	value := aws.ToString(a.Value)
	switch base {
	case "Binary":
		return types.MessageAttributeValue{DataType: &a.Type, BinaryValue: a.Binary}, len(a.Binary) > 0
	case "String":
		return types.MessageAttributeValue{DataType: &a.Type, StringValue: a.Value}, value != "" && clean(value) == value
	case "Number":
		return types.MessageAttributeValue{DataType: &a.Type, StringValue: a.Value}, legalNumber(value)
	default:
		return types.MessageAttributeValue{}, false
	}
}

// legalName reports whether SQS accepts the name of an attribute: letters, digits, "_",
// "-", and "." between others; prefixes of AWS are reserved.
func legalName(name string) bool {
	if len(name) > maxName {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || strings.Trim(part, nameCharacters) != "" {
			return false
		}
	}
	lower := strings.ToLower(name)
	return !strings.HasPrefix(lower, "aws.") && !strings.HasPrefix(lower, "amazon.")
}

// legalNumber reports whether SQS accepts the value of a Number: up to 38 digits, and 0
// or from 1e-128 to 1e+126, positive or negative.
func legalNumber(value string) bool {
	const decimal = "0123456789+-.eE"
	mantissa := value
	if i := strings.IndexAny(value, "eE"); i >= 0 {
		mantissa = value[:i]
	}
	n, err := strconv.ParseFloat(value, 64)
	n = math.Abs(n)
	return err == nil && strings.Trim(value, decimal) == "" && len(strings.Trim(mantissa, "+-.0")) <= 38 &&
		(n == 0 || 1e-128 <= n && n <= 1e126)
}

// jsonSize returns the size of the attribute in a record, in bytes.
func (a Attribute) jsonSize(name string) int {
	b, err := json.Marshal(map[string]Attribute{name: a})
	if err != nil {
		return 0
	}
	return len(b)
}
