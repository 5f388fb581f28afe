package cfn

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// loopPrefix begins the key of a loop; its unique name follows.
const loopPrefix = "Fn::ForEach::"

// maxLoopNodes is the maximum number of nodes that a template's loops may write.
// It is far more than the 500 resources that CloudFormation takes.
const maxLoopNodes = 200_000

// Collection returns the items of a loop's collection, which may be an intrinsic
// function. The second result is false if they are not known here.
type Collection func(n *yaml.Node) ([]string, bool)

// Unroll writes out the loops in n and below it, as CloudFormation does with the
// transform AWS::LanguageExtensions: the key Fn::ForEach::NAME with a list of
// identifier, collection and body gives a copy of the body for each item. In it,
// ${Identifier}, &{Identifier} and Ref of the identifier are the item. The result
// is a copy; nodes of a body keep the line and the column of the original.
//
// open are the keys of loops that cannot be written out because their collection
// is not known; they are left out of the result.
func Unroll(file string, n *yaml.Node, items Collection) (unrolled *yaml.Node, open []*yaml.Node, err error) {
	u := &unroller{file: file, items: items}
	unrolled = u.copy(n, nil)
	if u.err != nil {
		return nil, nil, u.err
	}
	return unrolled, u.open, nil
}

type unroller struct {
	file  string
	items Collection
	open  []*yaml.Node
	made  int
	err   *Error
}

// bound is the item of a loop that a body is copied for.
type bound struct {
	name, value string
	outer       *bound
}

// fail records the first error.
func (u *unroller) fail(n *yaml.Node, format string, args ...any) {
	if u.err == nil {
		u.err = &Error{File: u.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
	}
}

func (u *unroller) copy(n *yaml.Node, in *bound) *yaml.Node {
	if n == nil || u.err != nil {
		return n
	}
	if in != nil {
		if u.made++; u.made > maxLoopNodes {
			u.fail(n, "the template's loops make more than %d values: use fewer", maxLoopNodes)
		}
		if name, argument := Intrinsic(n); name == "Ref" {
			if item, ok := in.find(argument.Value); ok {
				return Scalar(item, n)
			}
		}
	}
	made := *n
	if n.Kind == yaml.ScalarNode {
		made.Value = in.replace(n.Value)
		return &made
	}
	made.Content = make([]*yaml.Node, 0, len(n.Content))
	if n.Kind != yaml.MappingNode {
		for _, child := range n.Content {
			made.Content = append(made.Content, u.copy(child, in))
		}
		return &made
	}
	for _, e := range Entries(n) {
		if strings.HasPrefix(e.Key.Value, loopPrefix) {
			made.Content = append(made.Content, u.loop(e, in)...)
			continue
		}
		made.Content = append(made.Content, u.copy(e.Key, in), u.copy(e.Value, in))
	}
	return &made
}

// loop returns the members that a loop makes.
func (u *unroller) loop(e Entry, in *bound) []*yaml.Node {
	if e.Value.Kind != yaml.SequenceNode || len(e.Value.Content) != 3 ||
		e.Value.Content[0].Kind != yaml.ScalarNode || e.Value.Content[2].Kind != yaml.MappingNode {
		u.fail(e.Key, "%s takes a list of an identifier, a collection and a mapping", e.Key.Value)
		return nil
	}
	name, collection, body := e.Value.Content[0].Value, u.copy(e.Value.Content[1], in), e.Value.Content[2]
	items, known := u.items(collection)
	if !known {
		u.open = append(u.open, e.Key)
		return nil
	}
	var made []*yaml.Node
	for _, item := range items {
		copied := u.copy(body, &bound{name: name, value: item, outer: in})
		if u.err != nil {
			return nil
		}
		made = append(made, copied.Content...)
	}
	return made
}

func (b *bound) find(name string) (string, bool) {
	for ; b != nil; b = b.outer {
		if b.name == name {
			return b.value, true
		}
	}
	return "", false
}

// replace fills the identifiers into a text. &{} leaves out what is no letter
// or digit, since logical ids have only these.
func (b *bound) replace(text string) string {
	for ; b != nil; b = b.outer {
		text = strings.ReplaceAll(text, "${"+b.name+"}", b.value)
		text = strings.ReplaceAll(text, "&{"+b.name+"}", alphanumeric(b.value))
	}
	return text
}

func alphanumeric(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, text)
}
