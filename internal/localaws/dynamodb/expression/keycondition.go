package expression

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

// Key names the key attributes of a table or index; Range is empty if it has none.
type Key struct{ Hash, Range string }

// KeyCondition selects items of one partition.
type KeyCondition struct {
	// Hash is the value of the partition key.
	Hash   attribute.Value
	order  node // the condition on the sort key, or nil
	values []attribute.Value
}

// Match tells whether the condition is true of an item.
func (k KeyCondition) Match(key Key, item attribute.Item) bool {
	return attribute.Equal(item[key.Hash], k.Hash) && (k.order == nil || k.order.holds(item))
}

// RangeValues are the values that the sort key is compared with.
func (k KeyCondition) RangeValues() []attribute.Value { return k.values }

// KeyCondition parses the condition of a query: the partition key equal to a
// value, and optionally one comparison of the sort key.
func (s *Scope) KeyCondition(text string, key Key) (KeyCondition, error) {
	condition, err := s.Condition("KeyConditionExpression", &text)
	if err != nil {
		return KeyCondition{}, err
	}
	var k KeyCondition
	for _, n := range conjuncts(condition.root) {
		name, values, ok := keyPredicate(n)
		c, _ := n.(comparison)
		switch {
		case !ok, name == key.Hash && (k.Hash != nil || c.operator != "="):
			return KeyCondition{}, attribute.Invalidf("Query key condition not supported")
		case name == key.Hash:
			k.Hash = values[0]
		case name == key.Range && k.order == nil:
			k.order, k.values = n, values
		case name == key.Range:
			return KeyCondition{}, attribute.Invalidf("Invalid KeyConditionExpression: " +
				"KeyConditionExpressions must only contain one condition per key")
		default:
			return KeyCondition{}, missedKey(key)
		}
	}
	if k.Hash == nil {
		return KeyCondition{}, missedKey(key)
	}
	return k, nil
}

func missedKey(key Key) error {
	return attribute.Invalidf("Query condition missed key schema element: %s", key.Hash)
}

// conjuncts are the conditions that are joined by AND.
func conjuncts(n node) []node {
	switch n := n.(type) {
	case group:
		return conjuncts(n.node)
	case and:
		return append(conjuncts(n.left), conjuncts(n.right)...)
	}
	return []node{n}
}

// keyPredicate gives the attribute and the values of a condition that a key can have.
func keyPredicate(n node) (name string, values []attribute.Value, ok bool) {
	switch n := n.(type) {
	case comparison:
		if n.operator == "<>" {
			return "", nil, false
		}
	case between:
	case call:
		if n.function != "begins_with" {
			return "", nil, false
		}
	default:
		return "", nil, false
	}
	_, operands := n.parts()
	p, ok := operands[0].(path)
	if !ok || len(p) != 1 {
		return "", nil, false
	}
	for _, o := range operands[1:] {
		l, ok := o.(literal)
		if !ok {
			return "", nil, false
		}
		values = append(values, l.value)
	}
	return p[0].name, values, true
}
