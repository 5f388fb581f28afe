package expression_test

import (
	"strings"
	"testing"
)

func TestReservedWordsInAnyCase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"abort", "status", "data", "owner", "name", "ttl", "count", "hash", "range", "zone"} {
		for _, spelt := range []string{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
			text := "attribute_exists(" + spelt + ")"
			_, err := scope(t, text).Condition("ConditionExpression", &text)
			wantInvalid(t, err, "Attribute name is a reserved keyword; reserved keyword: "+spelt)
		}
	}
}

func TestNamesOfTheLedgerAreNotReserved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"id", "expiration", "in_progress_expiration", "validation", "claims", "settled", "crashes", "attempts",
		"unclassified", "history", "epoch", "message_id", "dead_at", "verdict", "dlq_message_id", "statuses",
	} {
		text := "attribute_exists(" + name + ")"
		if _, err := scope(t, text).Condition("ConditionExpression", &text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlaceholdersAllowReservedAndUnusualNames(t *testing.T) {
	t.Parallel()
	text := "#status = :a AND #dot = :one AND m.#in = :two"
	c, err := scope(t, text).Condition("ConditionExpression", &text)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Match(item(t, `{"status":{"S":"a"},"a.b":{"N":"1"},"m":{"M":{"in":{"N":"2"}}}}`)) {
		t.Error("no match")
	}
	if c.Match(item(t, `{"status":{"S":"a"},"a":{"M":{"b":{"N":"1"}}},"m":{"M":{"in":{"N":"2"}}}}`)) {
		t.Error("a name with a dot is taken for a path")
	}
}
