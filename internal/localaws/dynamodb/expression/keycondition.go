package expression

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

// Key names the key attributes of a table or index; Range is empty if there is
// no sort key.
type Key struct{ Hash, Range string }

// KeyCondition selects items of one partition.
type KeyCondition struct {
	// Hash is the value of the partition key.
	Hash   attribute.Value
	order  node // the condition on the sort key, or nil
	values []attribute.Value
}

// Match reports whether the condition is true for an item.
func (k KeyCondition) Match(key Key, item attribute.Item) bool {
	return attribute.Equal(item[key.Hash], k.Hash) && (k.order == nil || k.order.holds(item))
}

// RangeValues returns the values that the sort key is compared with.
func (k KeyCondition) RangeValues() []attribute.Value { return k.values }

// Bounds returns the lowest and the highest value that the sort key can have;
// nil means that there is no bound. Not all values between them match.
func (k KeyCondition) Bounds() (low, high attribute.Value) {
	switch n := k.order.(type) {
	case comparison:
		if n.operator[0] != '<' {
			low = k.values[0]
		}
		if n.operator[0] != '>' {
			high = k.values[0]
		}
	case between:
		low, high = k.values[0], k.values[1]
	case call: // begins_with
		low, high = k.values[0], attribute.LastWithPrefix(k.values[0])
	}
	return low, high
}

// UnboundKeyCondition is the condition of a query on a table that is not known
// yet.
type UnboundKeyCondition struct{ nodes []node }

// KeyCondition parses the condition of a query.
func (s *Scope) KeyCondition(text string) (UnboundKeyCondition, error) {
	condition, err := s.Condition("KeyConditionExpression", &text)
	if err != nil {
		return UnboundKeyCondition{}, err
	}
	nodes := conjuncts(condition.root)
	for _, n := range nodes {
		if operator := misplaced(n); operator != "" {
			return UnboundKeyCondition{}, invalidKeyCondition(
				"Invalid operator used in KeyConditionExpression: %s", operator)
		}
	}
	return UnboundKeyCondition{nodes}, nil
}

// On returns the condition for a key: the partition key equals a value, and
// optionally one condition on the sort key.
func (u UnboundKeyCondition) On(key Key) (KeyCondition, error) {
	var k KeyCondition
	for _, n := range u.nodes {
		n = pathFirst(n)
		name, values, ok := keyPredicate(n)
		c, _ := n.(comparison)
		switch {
		case ok && (name == key.Hash && k.Hash != nil || name == key.Range && k.order != nil):
			return KeyCondition{}, invalidKeyCondition("KeyConditionExpressions must only contain one condition per key")
		case !ok, name == key.Hash && c.operator != "=":
			return KeyCondition{}, attribute.Invalidf("Query key condition not supported")
		case name == key.Hash:
			k.Hash = values[0]
		case name == key.Range:
			k.order, k.values = n, values
		default:
			return KeyCondition{}, missedKey(key)
		}
	}
	if k.Hash == nil {
		return KeyCondition{}, missedKey(key)
	}
	return k, nil
}

func invalidKeyCondition(format string, args ...any) error {
	return attribute.Invalidf("Invalid KeyConditionExpression: "+format, args...)
}

func missedKey(key Key) error {
	return attribute.Invalidf("Query condition missed key schema element: %s", key.Hash)
}

// conjuncts returns the conditions that are joined by AND.
func conjuncts(n node) []node {
	switch n := n.(type) {
	case group:
		return conjuncts(n.node)
	case and:
		return append(conjuncts(n.left), conjuncts(n.right)...)
	}
	return []node{n}
}

// misplaced returns the operator or function of n if a key condition cannot
// contain it, or an empty string.
func misplaced(n node) string {
	switch n := n.(type) {
	case or:
		return "OR"
	case not:
		return "NOT"
	case in:
		return "IN"
	case comparison:
		if n.operator == "<>" {
			return n.operator
		}
	case call:
		if n.function != "begins_with" {
			return n.function
		}
	}
	return ""
}

// mirrored maps each comparator to the one with its operands swapped.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// pathFirst swaps the operands of a comparison so that the path comes before
// the value.
func pathFirst(n node) node {
	c, ok := n.(comparison)
	if !ok {
		return n
	}
	if _, ok := c.left.(literal); !ok {
		return n
	}
	return comparison{mirrored[c.operator], c.right, c.left}
}

// keyPredicate returns the attribute and the values of a key condition. Its
// operator has been checked before.
func keyPredicate(n node) (name string, values []attribute.Value, ok bool) {
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
