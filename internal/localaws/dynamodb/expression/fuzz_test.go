package expression_test

import (
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// FuzzParser parses any text as each kind of expression. The result is a
// ValidationException, or an expression that can be evaluated.
func FuzzParser(f *testing.F) {
	for _, s := range []string{
		"attribute_not_exists(#in) OR n < :one AND NOT (s BETWEEN :a AND :he)",
		"size(l[0].a) IN (:one, :two) AND contains(ss, :x)",
		"SET n = if_not_exists(n, :zero) + :one, m.l[3] = list_append(l, :l) REMOVE l[0], b ADD ss :ss DELETE ss :ss",
		"a, m.l[1][0], #status",
		"id = :a AND begins_with(sk, :he)",
		"((((", "n = :one)", "\xff", "#", "l[9999999999]", "n\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := expression.NewScope(allNames, item(t, allValues))
		if err != nil {
			t.Fatal(err)
		}
		target := item(t, conditionItem)
		before := show(t, target)
		if c, err := s.Condition("ConditionExpression", &text); !refused(t, err) {
			c.Match(target)
			c.Match(nil)
			c.Names()
		}
		if u, err := s.Update(&text); !refused(t, err) {
			updated, err := u.Apply(target)
			if !refused(t, err) {
				u.Updated().Of(updated)
			}
		}
		if p, err := s.Projection(&text); !refused(t, err) {
			p.Of(target)
		}
		if u, err := s.KeyCondition(text); !refused(t, err) {
			if k, err := u.On(sorted); !refused(t, err) {
				k.Match(sorted, target)
			}
		}
		if after := show(t, target); after != before {
			t.Fatalf("%q changed the item to %s", text, after)
		}
	})
}

func refused(t *testing.T, err error) bool {
	t.Helper()
	var refusal *protocol.Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Code != "ValidationException") {
		t.Fatalf("refused with %v", err)
	}
	return err != nil
}
