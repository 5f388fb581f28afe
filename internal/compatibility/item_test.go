package compatibility_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// value is an attribute of an item in DynamoDB's JSON, as far as our items have it.
type value struct {
	S *string          `json:"S,omitempty"`
	N *string          `json:"N,omitempty"`
	M map[string]value `json:"M,omitempty"`
}

func encode(a types.AttributeValue) (value, error) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		return value{S: &a.Value}, nil
	case *types.AttributeValueMemberN:
		return value{N: &a.Value}, nil
	case *types.AttributeValueMemberM:
		m, err := encodeAll(a.Value)
		return value{M: m}, err
	default:
		return value{}, fmt.Errorf("an item has an attribute of type %T: add it here", a)
	}
}

func encodeAll(item map[string]types.AttributeValue) (map[string]value, error) {
	out := map[string]value{}
	for name, a := range item {
		v, err := encode(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func decode(v value) types.AttributeValue {
	switch {
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}
	case v.M != nil:
		return &types.AttributeValueMemberM{Value: decodeAll(v.M)}
	default:
		return &types.AttributeValueMemberS{Value: *v.S}
	}
}

func decodeAll(item map[string]value) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, v := range item {
		out[name] = decode(v)
	}
	return out
}
