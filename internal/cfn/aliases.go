package cfn

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// maxAliasNodes is the maximum number of nodes that a template's aliases may
// expand to. It is far more than a template of CloudFormation's 1 MB needs.
const maxAliasNodes = 200_000

// expansion replaces a document's aliases and merges by copies of what they
// refer to.
type expansion struct {
	file string
	// open are the anchored nodes that are being copied.
	open map[*yaml.Node]bool
	// aliases is the number of aliases being expanded at the moment; made is
	// the number of nodes that all aliases have expanded to.
	aliases, made int
	first         *yaml.Node // the first alias or merge
}

// expand returns a copy of a document with its aliases and merges expanded.
// Copied nodes keep their line numbers. first is the first alias or merge, or
// nil.
func expand(file string, n *yaml.Node) (document, first *yaml.Node, err *Error) {
	x := &expansion{file: file, open: map[*yaml.Node]bool{}}
	document, err = x.copy(n)
	return document, x.first, err
}

func (x *expansion) fail(n *yaml.Node, format string, args ...any) *Error {
	return &Error{File: x.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
}

func (x *expansion) copy(n *yaml.Node) (*yaml.Node, *Error) {
	if n.Kind == yaml.AliasNode {
		return x.follow(n)
	}
	if x.aliases > 0 {
		x.made++
	}
	if x.made > maxAliasNodes {
		return nil, x.fail(n, "the template's aliases make more than %d values: use fewer", maxAliasNodes)
	}
	if n.Anchor != "" {
		x.open[n] = true
		defer delete(x.open, n)
	}
	made := *n
	made.Anchor, made.Content = "", make([]*yaml.Node, 0, len(n.Content))
	for _, child := range n.Content {
		c, err := x.copy(child)
		if err != nil {
			return nil, err
		}
		made.Content = append(made.Content, c)
	}
	if made.Kind == yaml.MappingNode {
		return &made, x.mergeKeys(&made)
	}
	return &made, nil
}

// follow returns a copy of the node that an alias refers to.
func (x *expansion) follow(alias *yaml.Node) (*yaml.Node, *Error) {
	x.uses(alias)
	if x.open[alias.Alias] {
		return nil, x.fail(alias, "alias *%s stands within what it stands for: break the circle", alias.Value)
	}
	x.aliases++
	defer func() { x.aliases-- }()
	return x.copy(alias.Alias)
}

func (x *expansion) uses(n *yaml.Node) {
	if x.first == nil {
		x.first = n
	}
}

// mergeKeys replaces the key << of a mapping by the members of the mappings
// that it names. A key that the mapping already has keeps its value.
func (x *expansion) mergeKeys(n *yaml.Node) *Error {
	var sources *yaml.Node
	own := make([]*yaml.Node, 0, len(n.Content))
	for _, e := range Entries(n) {
		switch {
		case e.Key.Tag != "!!merge":
			own = append(own, e.Key, e.Value)
		case sources != nil:
			return x.fail(e.Key, "<< is given twice: write one with a list")
		default:
			x.uses(e.Key)
			sources = e.Value
		}
	}
	n.Content = own
	if sources == nil {
		return nil
	}
	list := []*yaml.Node{sources}
	if sources.Kind == yaml.SequenceNode {
		list = sources.Content
	}
	have := map[string]bool{}
	for _, e := range Entries(n) {
		have[e.Key.Value] = true
	}
	for _, source := range list {
		if source.Kind != yaml.MappingNode {
			return x.fail(source, "<< takes a mapping or a list of mappings")
		}
		for _, e := range Entries(source) {
			if !have[e.Key.Value] {
				have[e.Key.Value] = true
				n.Content = append(n.Content, e.Key, e.Value)
			}
		}
	}
	return nil
}
