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

// placeholders are ExpressionAttributeValues. A bad value is an error of its own
// in writes; in queries and scans its message names the placeholder.
type placeholders struct {
	values  attribute.Item
	problem error
	name    string // of the placeholder with the problem, if it is one of a value
}

func (p *placeholders) item() attribute.Item { return p.values }

func (p *placeholders) check() error { return p.problem }

// checkNamed is check with the name of the placeholder in the message.
func (p *placeholders) checkNamed() error {
	if p.name == "" {
		return p.problem
	}
	return wrapped(p.problem, "ExpressionAttributeValues contains invalid value: ", " for key "+p.name)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *placeholders) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return err
	}
	p.parse(raw)
	return nil
}

// parse sets the values, or the problem with one of them.
func (p *placeholders) parse(raw map[string]json.RawMessage) {
	names := slices.Sorted(maps.Keys(raw))
	p.values = make(attribute.Item, len(raw))
	p.problem = expression.CheckValueNames(names)
	for _, name := range names {
		if p.problem != nil {
			return
		}
		var one attribute.Any
		_ = one.UnmarshalJSON(raw[name]) // never fails
		if p.values[name], p.problem = one.Value(); p.problem != nil {
			p.name = name
		}
	}
}

// MarshalJSON implements [json.Marshaler].
func (p *placeholders) MarshalJSON() ([]byte, error) { return json.Marshal(p.values) }

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
