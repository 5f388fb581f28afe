package dynamodb

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// placeholders are ExpressionAttributeValues. AWS's messages for bad values name
// the placeholder.
type placeholders map[string]attribute.Value

func (p placeholders) item() attribute.Item { return attribute.Item(p) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *placeholders) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return err
	}
	*p = make(placeholders, len(raw))
	if err := expression.CheckValueNames(slices.Sorted(maps.Keys(raw))); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var one attribute.Item
		if err := json.Unmarshal(slices.Concat([]byte(`{"v":`), raw[name], []byte(`}`)), &one); err != nil {
			return wrapped(err, "ExpressionAttributeValues contains invalid value: ", " for key "+name)
		}
		(*p)[name] = one["v"]
	}
	return nil
}

// wrapped returns a validation error with more text around its message.
func wrapped(err error, before, after string) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code == "ValidationException" {
		return attribute.Invalidf("%s", before+e.Message+after)
	}
	return err
}

// startKey is an ExclusiveStartKey. A bad value in it is reported after those in
// other parameters.
type startKey struct {
	item    attribute.Item
	problem error
}

// UnmarshalJSON implements [json.Unmarshaler]. AWS says where most bad values
// are, but not where bad numbers and duplicates are.
func (k *startKey) UnmarshalJSON(data []byte) error {
	err := json.Unmarshal(data, &k.item)
	e, ok := errors.AsType[*protocol.Error](err)
	if ok && (strings.HasPrefix(e.Message, "Supplied ") || strings.HasPrefix(e.Message, "One or more ")) &&
		!strings.Contains(e.Message, "Input collection") && !strings.Contains(e.Message, "An number set") {
		err = wrapped(err, "The provided starting key is invalid: ", "")
	}
	k.problem = err
	return nil
}
