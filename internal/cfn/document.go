package cfn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Load parses a template's text, expands its aliases and converts its intrinsic
// functions to the long form. The returned root is a mapping; alias is the
// first alias or merge, or nil.
func Load(file string, data []byte) (root, alias *yaml.Node, err error) {
	if blank(data) {
		return nil, nil, &Error{File: file, Message: "the template is empty: write its Resources"}
	}
	var document yaml.Node
	if err := yaml.Load(data, &document); err != nil {
		return nil, nil, malformed(file, err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, nil, &Error{File: file, Line: 1, Message: "not a template: the top must be a mapping with Resources"}
	}
	root, alias, problem := expand(file, document.Content[0])
	if problem == nil {
		problem = toLongForm(file, root)
	}
	if problem != nil {
		return nil, nil, problem
	}
	return root, alias, nil
}

// blank reports whether a text has nothing but space and comments.
func blank(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func malformed(file string, err error) *Error {
	e := &Error{File: file, Message: err.Error(), Err: err}
	if l, ok := errors.AsType[*yaml.LoadError](err); ok {
		e.Line, e.Message = l.Mark.Line, l.Message
	}
	if strings.Contains(e.Message, "found multiple") {
		e.Message = "it has more than one document: keep one, and remove the line --- between them"
		return e
	}
	e.Message = "neither YAML nor JSON: " + strings.ReplaceAll(e.Message, "\n", " ")
	return e
}

// toLongForm converts short forms such as !Ref to the long ones, in place. It
// returns an error for YAML that CloudFormation refuses.
func toLongForm(file string, n *yaml.Node) *Error {
	if n.Kind == yaml.MappingNode {
		if err := checkKeys(file, n); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := toLongForm(file, child); err != nil {
			return err
		}
	}
	if name, ok := strings.CutPrefix(n.Tag, "!"); ok && name != "" && name[0] != '!' {
		if !slices.Contains(Functions, name) {
			return &Error{
				File: file, Line: n.Line,
				Message: fmt.Sprintf("%q is no function of CloudFormation: %s", n.Tag, Remedy(name, "!", Functions)),
			}
		}
		*n = *longForm(n, name)
	}
	return nil
}

func checkKeys(file string, n *yaml.Node) *Error {
	seen := map[string]bool{}
	for _, e := range Entries(n) {
		if e.Key.Kind != yaml.ScalarNode {
			return &Error{File: file, Line: e.Key.Line, Message: "a key must be a text"}
		}
		if seen[e.Key.Value] {
			return &Error{
				File: file, Line: e.Key.Line,
				Message: fmt.Sprintf("%s is given twice: remove one of the two", e.Key.Value),
			}
		}
		seen[e.Key.Value] = true
	}
	return nil
}

func longForm(n *yaml.Node, name string) *yaml.Node {
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	argument := *n
	argument.Tag = "!!str"
	key := Scalar(name, n)
	return &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column,
		Content: []*yaml.Node{key, &argument},
	}
}

// Entry is one member of a mapping.
type Entry struct{ Key, Value *yaml.Node }

// Entries returns a mapping's members in their order, or none for any other
// node.
func Entries(n *yaml.Node) []Entry {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]Entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, Entry{n.Content[i], n.Content[i+1]})
	}
	return list
}

// Member returns the value of a mapping's key, or nil if there is none.
func Member(n *yaml.Node, key string) *yaml.Node {
	for _, e := range Entries(n) {
		if e.Key.Value == key {
			return e.Value
		}
	}
	return nil
}

// Scalar returns a text node with the position of another node.
func Scalar(value string, place *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: place.Line, Column: place.Column}
}

// Sequence returns a list node with the position of another node.
func Sequence(items []string, place *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: place.Line, Column: place.Column}
	for _, item := range items {
		list.Content = append(list.Content, Scalar(item, place))
	}
	return list
}

// Merge merges a node over its default as SAM does with Globals: mappings are
// merged, lists are concatenated, anything else is replaced.
func Merge(preset, own *yaml.Node) *yaml.Node {
	switch {
	case preset == nil:
		return own
	case own == nil:
		return preset
	case preset.Kind != own.Kind || IsIntrinsic(preset) || IsIntrinsic(own):
		return own
	case own.Kind == yaml.SequenceNode:
		joined := *own
		joined.Content = append(append([]*yaml.Node{}, preset.Content...), own.Content...)
		return &joined
	case own.Kind == yaml.MappingNode:
		return mergeMappings(preset, own)
	}
	return own
}

func mergeMappings(preset, own *yaml.Node) *yaml.Node {
	merged := *own
	merged.Content = nil
	for _, e := range Entries(preset) {
		merged.Content = append(merged.Content, e.Key, Merge(e.Value, Member(own, e.Key.Value)))
	}
	for _, e := range Entries(own) {
		if Member(preset, e.Key.Value) == nil {
			merged.Content = append(merged.Content, e.Key, e.Value)
		}
	}
	return &merged
}
