package stack

import "go.yaml.in/yaml/v4"

// condition is a member of the template's Conditions.
type condition struct {
	node  *yaml.Node
	state conditionState
	holds bool
}

type conditionState uint8

const (
	conditionOpen conditionState = iota
	conditionBusy
	conditionDecided
)

func (t *template) declareConditions(n *yaml.Node) {
	t.conditions = map[string]*condition{}
	for _, e := range entries(n) {
		t.conditions[e.key.Value] = &condition{node: e.value}
	}
}

// condition reports whether the condition named by n is true.
func (t *template) condition(n *yaml.Node) bool {
	c := t.conditions[n.Value]
	if n.Kind != yaml.ScalarNode || c == nil {
		t.fail(n, "condition %q: no such condition: add it to Conditions, or correct the name", n.Value)
		return false
	}
	switch c.state {
	case conditionBusy:
		t.fail(n, "condition %s depends on itself: break the circle", n.Value)
	case conditionOpen:
		c.state = conditionBusy
		c.holds = t.holds(c.node)
		c.state = conditionDecided
	}
	return c.holds
}

// holds evaluates a condition function.
func (t *template) holds(n *yaml.Node) bool {
	name, argument := intrinsic(n)
	switch name {
	case "Condition":
		return t.condition(argument)
	case "Fn::Equals":
		sides := t.arguments(n, 2, 2)
		return sides != nil && t.text(sides[0], name) == t.text(sides[1], name)
	case "Fn::Not":
		inner := t.arguments(n, 1, 1)
		return inner != nil && !t.holds(inner[0])
	case "Fn::And":
		return t.count(n) == len(argument.Content)
	case "Fn::Or":
		return t.count(n) > 0
	}
	t.fail(n, "not a condition: write Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition")
	return false
}

// count returns how many conditions in a list are true. CloudFormation accepts
// two to ten conditions.
func (t *template) count(n *yaml.Node) int {
	count := 0
	for _, inner := range t.arguments(n, 2, 10) {
		if t.holds(inner) {
			count++
		}
	}
	return count
}
