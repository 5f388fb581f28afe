package expression_test

import (
	"testing"

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
	} {
		c, err := scope(t, text).KeyCondition(text, sorted)
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
		unsupported = "Query key condition not supported"
		missed      = "Query condition missed key schema element: id"
		twice       = "KeyConditionExpressions must only contain one condition per key"
	)
	for text, message := range map[string]string{
		"":                                    "Invalid KeyConditionExpression: The expression can not be empty",
		"id = ":                               "Invalid KeyConditionExpression: Syntax error",
		"sk = :ten":                           missed,
		"another = :a":                        missed,
		"id = :a AND another = :x":            missed,
		"id > :a":                             unsupported,
		"id = :a AND id = :x":                 unsupported,
		"begins_with(id, :a)":                 unsupported,
		"id = :a OR sk = :ten":                unsupported,
		"id = :a AND NOT sk = :ten":           unsupported,
		"id = :a AND sk <> :ten":              unsupported,
		"id = :a AND sk IN (:one, :ten)":      unsupported,
		"id = :a AND contains(sk, :he)":       unsupported,
		"id = :a AND attribute_exists(sk)":    unsupported,
		"id = :a AND size(sk) = :one":         unsupported,
		"id = :a AND sk = another":            unsupported,
		"id = :a AND sk.x = :one":             unsupported,
		"id = :a AND sk > :one AND sk < :ten": twice,
	} {
		_, err := scope(t, text).KeyCondition(text, sorted)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		wantInvalid(t, err, message)
	}
}

func TestKeyConditionOfAKeyWithoutSortKey(t *testing.T) {
	t.Parallel()
	text := "id = :a AND sk = :ten"
	_, err := scope(t, text).KeyCondition(text, expression.Key{Hash: "id"})
	wantInvalid(t, err, "Query condition missed key schema element: id")
}
