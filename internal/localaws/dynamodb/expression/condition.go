package expression

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

// Condition is a condition on an item. The zero Condition is true for every
// item.
type Condition struct {
	root   node
	nested []string
}

// Nested returns the attributes of which the condition reads parts.
func (c Condition) Nested() []string { return c.nested }

// Match reports whether the condition is true for the item; nil means that the
// item does not exist.
func (c Condition) Match(item attribute.Item) bool { return c.root == nil || c.root.holds(item) }

// Names returns the attributes that the condition reads: the first elements of
// its paths.
func (c Condition) Names() []string {
	var names []string
	walk(c.root, func(p path) { names = append(names, p[0].name) })
	return names
}

// node is a boolean part of a condition.
type node interface {
	holds(item attribute.Item) bool
	// parts returns the conditions and operands that the node is made of.
	parts() (nodes []node, operands []operand)
}

// walk calls f for each path in the condition.
func walk(n node, f func(path)) {
	if n == nil {
		return
	}
	nodes, operands := n.parts()
	for _, o := range operands {
		if s, ok := o.(sizeOf); ok {
			o = s.of
		}
		if p, ok := o.(path); ok {
			f(p)
		}
	}
	for _, n := range nodes {
		walk(n, f)
	}
}

type (
	and struct{ left, right node }
	or  struct{ left, right node }
	not struct{ operand node }
)

func (a and) holds(item attribute.Item) bool { return a.left.holds(item) && a.right.holds(item) }
func (o or) holds(item attribute.Item) bool  { return o.left.holds(item) || o.right.holds(item) }
func (n not) holds(item attribute.Item) bool { return !n.operand.holds(item) }

func (a and) parts() ([]node, []operand) { return []node{a.left, a.right}, nil }
func (o or) parts() ([]node, []operand)  { return []node{o.left, o.right}, nil }
func (n not) parts() ([]node, []operand) { return []node{n.operand}, nil }

// comparison compares two operands.
type comparison struct {
	operator    string
	left, right operand
}

func (c comparison) holds(item attribute.Item) bool {
	return compare(c.operator, c.left.on(item), c.right.on(item))
}

func (c comparison) parts() ([]node, []operand) { return nil, []operand{c.left, c.right} }

func compare(operator string, left, right attribute.Value) bool {
	if left == nil || right == nil {
		return operator == "<>" && left != right
	}
	switch operator {
	case "=":
		return attribute.Equal(left, right)
	case "<>":
		return !attribute.Equal(left, right)
	}
	order, ok := attribute.Compare(left, right)
	if !ok {
		return false
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

type between struct{ operand, low, high operand }

func (b between) holds(item attribute.Item) bool {
	v := b.operand.on(item)
	return compare(">=", v, b.low.on(item)) && compare("<=", v, b.high.on(item))
}

func (b between) parts() ([]node, []operand) { return nil, []operand{b.operand, b.low, b.high} }

type in struct {
	operand operand
	list    []operand
}

func (i in) holds(item attribute.Item) bool {
	v := i.operand.on(item)
	for _, o := range i.list {
		if attribute.Equal(v, o.on(item)) {
			return true
		}
	}
	return false
}

func (i in) parts() ([]node, []operand) { return nil, append([]operand{i.operand}, i.list...) }

// call is a function with a boolean result.
type call struct {
	function  string
	arguments []operand
}

func (c call) holds(item attribute.Item) bool {
	first := c.arguments[0].on(item)
	switch c.function {
	case "attribute_exists":
		return first != nil
	case "attribute_not_exists":
		return first == nil
	}
	second := c.arguments[1].on(item)
	switch {
	case first == nil || second == nil:
		return false
	case c.function == "begins_with":
		return attribute.HasPrefix(first, second)
	case c.function == "contains":
		return attribute.Contains(first, second)
	default: // attribute_type; the parser has checked that its second argument is a string
		return attribute.String(first.Type()) == second
	}
}

func (c call) parts() ([]node, []operand) { return nil, c.arguments }
