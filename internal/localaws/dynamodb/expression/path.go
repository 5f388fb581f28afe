package expression

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// path is a document path to an attribute, or to a part of one.
type path []element

// element is the name of an attribute or map member, or an index of a list.
type element struct {
	name  string
	index int // index of a list, if name is empty
}

func (e element) String() string {
	if e.name == "" {
		return "[" + strconv.Itoa(e.index) + "]"
	}
	return e.name
}

// String formats the path like DynamoDB's messages: [a, b, [0]].
func (p path) String() string {
	names := make([]string, len(p))
	for i, e := range p {
		names[i] = e.String()
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// resolve returns the value at the path, or nil.
func (p path) resolve(item attribute.Item) attribute.Value {
	v := item[p[0].name]
	for _, e := range p[1:] {
		switch c := v.(type) {
		case attribute.Map:
			v = c[e.name] // nil for an index: no member has the empty name
		case attribute.List:
			if e.name != "" || e.index >= len(c) {
				return nil
			}
			v = c[e.index]
		default:
			return nil
		}
	}
	return v
}

// overlaps reports whether the paths are equal or one is a prefix of the other.
func (p path) overlaps(q path) bool {
	n := min(len(p), len(q))
	return slices.Equal(p[:n], q[:n])
}

// conflicts reports whether the paths need a list and a map in the same place.
func (p path) conflicts(q path) bool {
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return (p[i].name == "") != (q[i].name == "")
		}
	}
	return false
}

func comparePaths(p, q path) int {
	return slices.CompareFunc(p, q, func(a, b element) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.index - b.index
	})
}

// checkDistinct fails if one path could change what another refers to. The
// message names the paths in the order of the expression.
func (p *parser) checkDistinct(paths []path) {
	for _, problem := range []struct {
		name   string
		exists func(p, q path) bool
	}{{"overlap", path.overlaps}, {"conflict", path.conflicts}} {
		for i, one := range paths {
			for _, two := range paths[:i] {
				if problem.exists(one, two) {
					p.fail(everythingElse, p.invalid("Two document paths %s with each other; "+
						"must remove or rewrite one of these paths; path one: %v, path two: %v", problem.name, two, one))
					return
				}
			}
		}
	}
}
