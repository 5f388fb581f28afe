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
	equal  bool // whether the partition key equals a value
}

// HasPartition reports whether the condition selects one partition. Otherwise it
// is of a form that queries do not support.
func (k KeyCondition) HasPartition() bool { return k.equal }

// Match reports whether the condition is true for an item.
func (k KeyCondition) Match(key Key, item attribute.Item) bool {
	return attribute.Equal(item[key.Hash], k.Hash) && k.MatchRange(item)
}

// MatchRange reports whether the condition on the sort key is true for an item.
func (k KeyCondition) MatchRange(item attribute.Item) bool {
	return k.order == nil || k.order.holds(item)
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
type UnboundKeyCondition struct{ conditions []keyPredicate }

// keyPredicate is a condition on one attribute.
type keyPredicate struct {
	name   string
	node   node
	values []attribute.Value
	// scattered says that the items that match are not next to each other in an
	// index.
	scattered bool
}

// KeyCondition parses the condition of a query.
func (s *Scope) KeyCondition(text string) (UnboundKeyCondition, error) {
	condition, err := s.Condition("KeyConditionExpression", &text)
	if err != nil {
		return UnboundKeyCondition{}, err
	}
	return condition.AsKey()
}

// AsKey returns the condition as one of a query.
func (c Condition) AsKey() (UnboundKeyCondition, error) {
	var u UnboundKeyCondition
	for _, n := range conjuncts(c.root) {
		if operator := misplaced(n); operator != "" {
			return UnboundKeyCondition{}, attribute.Invalidf("Invalid operator used in KeyConditionExpression: %s", operator)
		}
		k, err := newKeyPredicate(n)
		if err != nil {
			return UnboundKeyCondition{}, err
		}
		if u.on(k.name) != nil {
			return UnboundKeyCondition{}, attribute.Invalidf(
				"KeyConditionExpressions must only contain one condition per key")
		}
		u.conditions = append(u.conditions, k)
	}
	if len(u.conditions) > maxKeyConditions {
		return UnboundKeyCondition{}, attribute.Invalidf("Conditions can be of length 1 or 2 only")
	}
	return u, nil
}

const maxKeyConditions = 2

// on returns the condition on an attribute, or nil.
func (u UnboundKeyCondition) on(name string) *keyPredicate {
	for i := range u.conditions {
		if u.conditions[i].name == name {
			return &u.conditions[i]
		}
	}
	return nil
}

// newKeyPredicate checks a condition whose operator can be used in queries.
func newKeyPredicate(n node) (keyPredicate, error) {
	k := keyPredicate{node: pathFirst(n)}
	_, operands := n.parts()
	if _, first := operands[0].(literal); first {
		switch n := n.(type) {
		case between:
			return k, keyFirst("BETWEEN")
		case call:
			return k, keyFirst(n.function)
		}
	}
	for _, o := range operands {
		switch o := o.(type) {
		case sizeOf:
			return k, attribute.Invalidf("KeyConditionExpressions cannot contain nested operations")
		case literal:
			k.values = append(k.values, o.value)
		case path:
			switch {
			case k.name != "":
				return k, invalidKeyCondition("Multiple attribute names used in one condition")
			case len(o) > 1:
				return k, attribute.Invalidf("KeyConditionExpressions cannot have conditions on nested attributes")
			}
			k.name = o[0].name
		}
	}
	if k.name == "" {
		return k, invalidKeyCondition("No key attribute specified")
	}
	return k, nil
}

func keyFirst(operator string) error {
	return invalidKeyCondition(operator + " operator must have the key attribute as its first operand")
}

// On returns the condition for a key: the partition key equals a value, and
// optionally one condition on the sort key.
func (u UnboundKeyCondition) On(key Key) (KeyCondition, error) {
	hash, sort := u.on(key.Hash), u.on(key.Range)
	switch {
	case len(u.conditions) > 1 && key.Range == "":
		return KeyCondition{}, attribute.Invalidf("Query key condition not supported")
	case hash == nil:
		return KeyCondition{}, missedKey(key.Hash)
	case len(u.conditions) > 1 && sort == nil:
		return KeyCondition{}, missedKey(key.Range)
	}
	if hash.scattered || sort != nil && sort.scattered {
		return KeyCondition{}, attribute.Invalidf("Attempted conditional constraint is not an indexable operation")
	}
	c, _ := hash.node.(comparison)
	k := KeyCondition{Hash: hash.values[0], equal: c.operator == "="}
	if sort != nil {
		k.order, k.values = sort.node, sort.values
	}
	return k, nil
}

func invalidKeyCondition(message string) error {
	return attribute.Invalidf("Invalid condition in KeyConditionExpression: %s", message)
}

func missedKey(name string) error {
	return attribute.Invalidf("Query condition missed key schema element: %s", name)
}

// conjuncts returns the conditions that are joined by AND.
func conjuncts(n node) []node {
	if a, ok := n.(and); ok {
		return append(conjuncts(a.left), conjuncts(a.right)...)
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
