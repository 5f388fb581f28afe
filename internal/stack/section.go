package stack

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// section is a mapping whose members are read by name. Members that are absent
// or AWS::NoValue have their default values.
type section struct {
	t    *template
	path string     // its name in errors
	node *yaml.Node // nil if it is absent
	line *yaml.Node // where it would be
}

// properties returns a resource's properties; those of a function are merged
// over the Globals.
func (t *template) properties(r *resource) section {
	n := r.properties
	if r.kind == kindFunction {
		n = merge(t.globals, n)
	}
	return t.section(r.id, t.resolve(n), r.node)
}

func (t *template) section(path string, n, line *yaml.Node) section {
	if n != nil && n.Kind != yaml.MappingNode {
		t.fail(n, "%s must be a mapping", path)
		n = nil
	}
	return section{t: t, path: path, node: n, line: line}
}

// at returns the node that an error about a member points to.
func (s section) at(name string) *yaml.Node {
	if n := member(s.node, name); n != nil {
		return n
	}
	return s.line
}

func (s section) fail(name, format string, args ...any) {
	s.t.fail(s.at(name), s.path+": "+name+format, args...)
}

// member resolves one member; it returns nil if there is none.
func (s section) member(name string) *yaml.Node {
	return s.t.resolve(member(s.node, name))
}

// text returns a member's text, empty if it is absent.
func (s section) text(name string) string {
	v := s.member(name)
	if v == nil {
		return ""
	}
	return s.t.text(v, s.path+": "+name)
}

// integer returns a whole number from low to high, or preset if it is absent.
func (s section) integer(name string, preset, low, high int) int {
	text := s.text(name)
	if text == "" {
		return preset
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < low || i > high {
		s.fail(name, " %q: a whole number from %d to %d is needed", text, low, high)
		return preset
	}
	return i
}

func (s section) flag(name string, preset bool) bool {
	switch text := s.text(name); text {
	case "":
		return preset
	case "true", "True":
		return true
	case "false", "False":
		return false
	default:
		s.fail(name, " %q: true or false is needed", text)
		return preset
	}
}

func (s section) section(name string) section {
	return s.t.section(s.path+": "+name, s.member(name), s.at(name))
}

func (s section) items(name string) []*yaml.Node {
	return s.t.items(member(s.node, name), s.path+": "+name)
}
