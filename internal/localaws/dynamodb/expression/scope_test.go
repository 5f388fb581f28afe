package expression_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

func TestPlaceholdersMustBeWellFormed(t *testing.T) {
	t.Parallel()
	one := attribute.String("1")
	for _, c := range []struct {
		names   map[string]string
		values  attribute.Item
		message string
	}{
		{map[string]string{}, nil, "ExpressionAttributeNames must not be empty"},
		{nil, attribute.Item{}, "ExpressionAttributeValues must not be empty"},
		{map[string]string{"n": "n"}, nil, `ExpressionAttributeNames contains invalid key: Syntax error; key: "n"`},
		{map[string]string{"#": "n"}, nil, `invalid key: Syntax error; key: "#"`},
		{map[string]string{"#a-b": "n"}, nil, `invalid key: Syntax error; key: "#a-b"`},
		{map[string]string{":n": "n"}, nil, `invalid key: Syntax error; key: ":n"`},
		{nil, attribute.Item{"v": one}, `ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
		{nil, attribute.Item{"#v": one}, `ExpressionAttributeValues contains invalid key: Syntax error; key: "#v"`},
	} {
		_, err := expression.NewScope(c.names, c.values)
		wantInvalid(t, err, c.message)
	}
}

func TestPlaceholdersMustBeUsed(t *testing.T) {
	t.Parallel()
	names := map[string]string{"#a": "a", "#b": "b", "#c": "c"}
	values := attribute.Item{":a": attribute.String("a"), ":b": attribute.String("b")}
	condition := func(s string) *string { return &s }
	for _, c := range []struct {
		condition *string
		names     map[string]string
		values    attribute.Item
		message   string
	}{
		{nil, names, nil, "ExpressionAttributeNames can only be specified when using expressions"},
		{nil, nil, values, "ExpressionAttributeValues can only be specified when using expressions"},
		{condition("#a = :a AND #b = :a AND #c = :a"), names, values,
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}"},
		{condition("#b = :a OR x = :b"), names, values,
			"Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #c}"},
	} {
		s, err := expression.NewScope(c.names, c.values)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Condition("ConditionExpression", c.condition); err != nil {
			t.Fatal(err)
		}
		wantInvalid(t, s.Close(), c.message)
	}
}

func TestExpressionsOfOneRequestShareTheirPlaceholders(t *testing.T) {
	t.Parallel()
	s, err := expression.NewScope(map[string]string{"#a": "a", "#b": "b"}, attribute.Item{":a": attribute.String("a")})
	if err != nil {
		t.Fatal(err)
	}
	condition, update := "attribute_exists(#a)", "SET #b = :a"
	if _, err := s.Condition("ConditionExpression", &condition); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(&update); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
