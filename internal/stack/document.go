package stack

import (
	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

func load(file string, data []byte) (root, alias *yaml.Node, err error) { return cfn.Load(file, data) }

// entry is one member of a mapping.
type entry struct{ key, value *yaml.Node }

func entries(n *yaml.Node) []entry {
	all := cfn.Entries(n)
	list := make([]entry, len(all))
	for i, e := range all {
		list[i] = entry{e.Key, e.Value}
	}
	return list
}

func member(n *yaml.Node, key string) *yaml.Node { return cfn.Member(n, key) }

func scalar(value string, place *yaml.Node) *yaml.Node { return cfn.Scalar(value, place) }

func sequence(items []string, place *yaml.Node) *yaml.Node { return cfn.Sequence(items, place) }

func merge(preset, own *yaml.Node) *yaml.Node { return cfn.Merge(preset, own) }

func intrinsic(n *yaml.Node) (name string, argument *yaml.Node) { return cfn.Intrinsic(n) }

func remedy(name, prefix string, known []string) string { return cfn.Remedy(name, prefix, known) }
