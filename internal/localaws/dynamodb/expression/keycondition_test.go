package expression_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

var sorted = expression.Key{Hash: "id", Range: "sk"}

func TestKeyConditions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"id = :a":                              true,
		"id = :x":                              false,
		"id = :a AND sk = :ten":                true,
		"sk = :ten AND id = :a":                true,
		"(id = :a) AND (sk < :ten)":            false,
		"(id = :a AND sk <= :ten0)":            true,
		"id = :a AND sk > :five":               true,
		"id = :a AND sk >= :ten":               true,
		"id = :a AND sk BETWEEN :one AND :ten": true,
		"id = :a AND begins_with(sk, :he)":     false,
		":a = id":                              true,
		":x = id":                              false,
		":a = id AND :five < sk":               true,
		":a = id AND :five > sk":               false,
		"id = :a AND :ten <= sk":               true,
		"id = :a AND :ten < sk":                false,
		":five >= sk AND id = :a":              false,
		"id = :a AND :ten >= sk":               true,
	} {
		c, err := keyCondition(t, text, sorted)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Match(sorted, item(t, `{"id":{"S":"a"},"sk":{"N":"10"}}`)); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestKeyConditionsThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		operator    = "Invalid operator used in KeyConditionExpression: "
		unsupported = "Query key condition not supported"
		missed      = "Query condition missed key schema element: id"
		invalid     = "Invalid condition in KeyConditionExpression: "
		twice       = "KeyConditionExpressions must only contain one condition per key"
	)
	for text, message := range map[string]string{
		"":                                      "Invalid KeyConditionExpression: The expression can not be empty",
		"id = ":                                 "Invalid KeyConditionExpression: Syntax error",
		"sk = :ten":                             missed,
		"another = :a":                          missed,
		"id = :a AND another = :x":              "Query condition missed key schema element: sk",
		"id > :a":                               unsupported,
		":a < id":                               unsupported,
		"id = :a AND id = :x":                   twice,
		"id = :a AND id > :x":                   twice,
		":a = id AND :x = id":                   twice,
		"begins_with(id, :a)":                   unsupported,
		"id = :a OR sk = :ten":                  operator + "OR",
		"id = :a AND (sk = :one OR sk = :ten)":  operator + "OR",
		"id = :a AND NOT sk = :ten":             operator + "NOT",
		"id = :a AND sk <> :ten":                operator + "<>",
		"id = :a AND :ten <> sk":                operator + "<>",
		"id = :a AND sk IN (:one, :ten)":        operator + "IN",
		"id = :a AND contains(sk, :he)":         operator + "contains",
		"id = :a AND attribute_exists(sk)":      operator + "attribute_exists",
		":a = :x":                               invalid + "No key attribute specified",
		"id = :a AND :five BETWEEN sk AND :ten": invalid + "BETWEEN operator must have the key attribute as its first",
		"id = :a AND size(sk) = :one":           "KeyConditionExpressions cannot contain nested operations",
		"id = :a AND sk = another":              invalid + "Multiple attribute names used in one condition",
		"id = :a AND sk.x = :one":               "KeyConditionExpressions cannot have conditions on nested attributes",
		"id = :a AND sk = :one AND x = :one":    "Conditions can be of length 1 or 2 only",
		"id = :a AND sk > :one AND sk < :ten":   twice,
	} {
		_, err := keyCondition(t, text, sorted)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		wantInvalid(t, err, message)
	}
}

func TestKeyConditionWithoutSortKey(t *testing.T) {
	t.Parallel()
	text := "id = :a AND sk = :ten"
	_, err := keyCondition(t, text, expression.Key{Hash: "id"})
	wantInvalid(t, err, "Query key condition not supported")
}

func keyCondition(t *testing.T, text string, key expression.Key) (expression.KeyCondition, error) {
	t.Helper()
	unbound, err := scope(t, text).KeyCondition(text)
	if err != nil {
		return expression.KeyCondition{}, err
	}
	k, err := unbound.On(key)
	if err == nil && !k.HasPartition() {
		return k, attribute.Invalidf("Query key condition not supported")
	}
	return k, err
}
