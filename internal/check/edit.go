package check

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// edit is a change of the text at a node's line and column: a scalar is
// replaced, or a member is put before the first one of a mapping.
type edit struct {
	line, column int
	// scalar is replaced, if it is not nil; it is found again in the text, so that
	// nothing else is overwritten.
	scalar *yaml.Node
	// key and value are the new member, or value the new scalar.
	key, value string
	// flow says that the mapping is in braces, json that its keys are in quotes.
	flow, json bool
}

func (e edit) empty() bool { return e.line == 0 }

// replace makes a scalar into another. It is empty for what is no plain scalar.
func replace(n *yaml.Node, value string) edit {
	if n == nil || n.Kind != yaml.ScalarNode || n.Line == 0 || n.Tag == "!!null" {
		return edit{}
	}
	return edit{line: n.Line, column: n.Column, scalar: n, value: value}
}

// set gives a mapping of the text a member, or replaces its value if that is a
// scalar. The value is in flow style. It is empty if the mapping has no member
// yet or the value is an expression.
func set(n *yaml.Node, key, value string) edit {
	all := cfn.Entries(n)
	if len(all) == 0 || cfn.IsIntrinsic(n) {
		return edit{}
	}
	for _, e := range all {
		if e.Key.Value == key {
			return replace(e.Value, value)
		}
	}
	first := all[0].Key
	return edit{
		line: first.Line, column: first.Column, key: key, value: value,
		flow: n.Style&yaml.FlowStyle != 0, json: first.Style&yaml.DoubleQuotedStyle != 0 && n.Style&yaml.FlowStyle != 0,
	}
}

func digits(n int) string { return strconv.Itoa(n) }

// flow is a list of texts in flow style.
func flow(items ...string) string { return "[" + strings.Join(items, ", ") + "]" }

// mapping is a mapping in flow style, of keys and values in turn.
func mapping(pairs ...string) string {
	var members []string
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, pairs[i]+": "+pairs[i+1])
	}
	return "{" + strings.Join(members, ", ") + "}"
}
