package stack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// load parses a template's text, expands its aliases and converts its intrinsic
// functions to the long form. The returned root is a mapping; alias is the
// first alias or merge, or nil.
func load(file string, data []byte) (root, alias *yaml.Node, err error) {
	if strings.TrimSpace(string(data)) == "" {
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

func malformed(file string, err error) *Error {
	e := &Error{File: file, Message: err.Error(), Err: err}
	if l, ok := errors.AsType[*yaml.LoadError](err); ok {
		e.Line, e.Message = l.Mark.Line, l.Message
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
		if !slices.Contains(knownFunctions, name) {
			return &Error{
				File: file, Line: n.Line,
				Message: fmt.Sprintf("%q is no function of CloudFormation: %s", n.Tag, remedy(name, "!", knownFunctions)),
			}
		}
		*n = *longForm(n, name)
	}
	return nil
}

func checkKeys(file string, n *yaml.Node) *Error {
	seen := map[string]bool{}
	for _, e := range entries(n) {
		if e.key.Kind != yaml.ScalarNode {
			return &Error{File: file, Line: e.key.Line, Message: "a key must be a text"}
		}
		if seen[e.key.Value] {
			return &Error{
				File: file, Line: e.key.Line,
				Message: fmt.Sprintf("%s is given twice: remove one of the two", e.key.Value),
			}
		}
		seen[e.key.Value] = true
	}
	return nil
}

func longForm(n *yaml.Node, name string) *yaml.Node {
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	argument := *n
	argument.Tag = "!!str"
	key := scalar(name, n)
	return &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column,
		Content: []*yaml.Node{key, &argument},
	}
}

// entry is one member of a mapping.
type entry struct{ key, value *yaml.Node }

// entries returns a mapping's members in their order, or none for any other
// node.
func entries(n *yaml.Node) []entry {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, entry{n.Content[i], n.Content[i+1]})
	}
	return list
}

// member returns the value of a mapping's key, or nil if there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	for _, e := range entries(n) {
		if e.key.Value == key {
			return e.value
		}
	}
	return nil
}

// scalar returns a text node with the position of another node.
func scalar(value string, place *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: place.Line, Column: place.Column}
}

// sequence returns a list node with the position of another node.
func sequence(items []string, place *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: place.Line, Column: place.Column}
	for _, item := range items {
		list.Content = append(list.Content, scalar(item, place))
	}
	return list
}

// merge merges a node over its default as SAM does with Globals: mappings are
// merged, lists are concatenated, anything else is replaced.
func merge(preset, own *yaml.Node) *yaml.Node {
	switch {
	case preset == nil:
		return own
	case own == nil:
		return preset
	case preset.Kind != own.Kind || isIntrinsic(preset) || isIntrinsic(own):
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
	for _, e := range entries(preset) {
		merged.Content = append(merged.Content, e.key, merge(e.value, member(own, e.key.Value)))
	}
	for _, e := range entries(own) {
		if member(preset, e.key.Value) == nil {
			merged.Content = append(merged.Content, e.key, e.value)
		}
	}
	return &merged
}
