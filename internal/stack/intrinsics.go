package stack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// resolve evaluates the intrinsic function of a node; members of the result may
// still be intrinsic functions. It returns nil for AWS::NoValue, for nil and
// after an error.
func (t *template) resolve(n *yaml.Node) *yaml.Node {
	name, argument := intrinsic(n)
	if t.err != nil {
		return nil
	}
	switch name {
	case "", "Condition": // not an intrinsic function: policy documents have a member of that name
		return n
	case "Ref":
		return t.ref(n, argument)
	case "Fn::GetAtt":
		return t.getAtt(n, argument)
	case "Fn::Sub":
		return t.sub(n, argument)
	case "Fn::If":
		return t.choose(n)
	case "Fn::Join":
		return t.join(n)
	case "Fn::Split":
		return t.split(n)
	case "Fn::Select":
		return t.pick(n)
	case "Fn::FindInMap":
		return t.findInMap(n)
	}
	// The name of a Fn::ForEach loop contains its own id.
	short, _, _ := strings.Cut(strings.TrimPrefix(name, "Fn::"), "::")
	if !slices.Contains(cfn.Functions, short) {
		t.fail(n, "%q is no function of CloudFormation: %s", name, remedy(short, "Fn::", cfn.Functions))
		return nil
	}
	return t.placeholder(n, t.exported(name, argument), "%s needs AWS", name)
}

// exported returns the name of the export for Fn::ImportValue, and an empty
// name for other functions.
func (t *template) exported(function string, argument *yaml.Node) string {
	if function != "Fn::ImportValue" {
		return ""
	}
	return t.text(argument, function)
}

// placeholder returns a placeholder for a value that exists only in AWS, if
// placeholders are allowed here. Otherwise, and for a value without a name, it
// is an error.
func (t *template) placeholder(n *yaml.Node, name, format string, args ...any) *yaml.Node {
	problem := fmt.Sprintf(format, args...)
	if t.placeholders && name != "" && t.err == nil {
		t.note(n, "%s: %q stands in for it", problem, name)
		return scalar(name, n)
	}
	t.failElsewhere(n, "%s: replace it by a parameter and give that a value", problem)
	return nil
}

// text resolves a node to a text. Errors name what, the place where the text is
// used.
func (t *template) text(n *yaml.Node, what string) string {
	v := t.resolve(n)
	switch {
	case t.err != nil:
	case v == nil:
		t.fail(n, "%s: AWS::NoValue cannot stand here: write a text", what)
	case v.Kind != yaml.ScalarNode:
		t.fail(v, "%s: a list or mapping where a text is needed", what)
	case v.Tag == "!!null":
		t.fail(v, `%s has no value: write one, or "" for an empty text`, what)
	default:
		return v.Value
	}
	return ""
}

// items resolves a node to a list and each of its items, without those that are
// AWS::NoValue.
func (t *template) items(n *yaml.Node, what string) []*yaml.Node {
	v := t.resolve(n)
	if v == nil {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		t.fail(v, "%s must be a list", what)
		return nil
	}
	var list []*yaml.Node
	for _, item := range v.Content {
		if r := t.resolve(item); r != nil {
			list = append(list, r)
		}
	}
	return list
}

// texts is like items, for a list of texts.
func (t *template) texts(n *yaml.Node, what string) []string {
	var list []string
	for _, item := range t.items(n, what) {
		list = append(list, t.text(item, what))
	}
	return list
}

// arguments returns the arguments of a function that takes a list. It returns
// nil after an error if there are not least to most arguments.
func (t *template) arguments(n *yaml.Node, least, most int) []*yaml.Node {
	name, argument := intrinsic(n)
	if argument.Kind != yaml.SequenceNode || len(argument.Content) < least || len(argument.Content) > most {
		t.fail(n, "%s takes a list of %s", name, span(least, most))
		return nil
	}
	return argument.Content
}

func span(least, most int) string {
	if least == most {
		return strconv.Itoa(least)
	}
	return strconv.Itoa(least) + " to " + strconv.Itoa(most)
}

func (t *template) choose(n *yaml.Node) *yaml.Node {
	args := t.arguments(n, 3, 3)
	switch {
	case args == nil:
		return nil
	case t.condition(args[0]):
		return t.resolve(args[1])
	}
	return t.resolve(args[2])
}

func (t *template) join(n *yaml.Node) *yaml.Node {
	args := t.arguments(n, 2, 2)
	if args == nil {
		return nil
	}
	return scalar(strings.Join(t.texts(args[1], "Fn::Join"), t.text(args[0], "Fn::Join")), n)
}

func (t *template) split(n *yaml.Node) *yaml.Node {
	args := t.arguments(n, 2, 2)
	if args == nil {
		return nil
	}
	separator := t.text(args[0], "Fn::Split")
	if separator == "" {
		t.fail(n, "Fn::Split: the separator is empty: write one")
		return nil
	}
	return sequence(strings.Split(t.text(args[1], "Fn::Split"), separator), n)
}

func (t *template) pick(n *yaml.Node) *yaml.Node {
	args := t.arguments(n, 2, 2)
	if args == nil {
		return nil
	}
	index, list := t.text(args[0], "Fn::Select"), t.items(args[1], "Fn::Select")
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(list) {
		t.fail(n, "Fn::Select: no item %q in a list of %d: count from 0", index, len(list))
		return nil
	}
	return list[i]
}

func (t *template) findInMap(n *yaml.Node) *yaml.Node {
	args := t.arguments(n, 3, 3)
	found := t.mappings
	var path []string
	for _, arg := range args {
		key := t.text(arg, "Fn::FindInMap")
		path = append(path, key)
		found = member(found, key)
	}
	if args != nil && found == nil {
		t.fail(n, "Fn::FindInMap %s: not in Mappings: add it, or correct the keys", strings.Join(path, "."))
	}
	return found
}
