package expression

import (
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Projection selects parts of an item. The zero Projection selects the whole
// item.
type Projection struct {
	paths  []path
	nested []string
}

// Nested returns the attributes of which the projection selects only parts.
func (p Projection) Nested() []string { return p.nested }

// Projection parses a ProjectionExpression; a nil text selects the whole item.
func (s *Scope) Projection(text *string) (Projection, error) {
	if text == nil {
		return Projection{}, nil
	}
	p, err := s.parser("ProjectionExpression", *text)
	if err != nil {
		return Projection{}, err
	}
	paths, err := list(p, p.path)
	if err != nil {
		return Projection{}, err
	}
	p.checkDistinct(paths)
	return Projection{paths, p.nested}, p.finish()
}

// Attributes returns a projection on whole attributes.
func Attributes(names []string) Projection {
	paths := make([]path, len(names))
	for i, name := range names {
		paths[i] = path{{name: name}}
	}
	return Projection{paths: paths}
}

// All reports whether the projection selects the whole item.
func (p Projection) All() bool { return p.paths == nil }

// Names returns the attributes of which the projection selects parts.
func (p Projection) Names() []string {
	names := make([]string, len(p.paths))
	for i, path := range p.paths {
		names[i] = path[0].name
	}
	return names
}

// Of returns the selected parts that the item has. Selected elements of a list
// follow each other without gaps.
func (p Projection) Of(item attribute.Item) attribute.Item {
	if p.paths == nil || item == nil {
		return item
	}
	picked, ok := pick(attribute.Map(item), p.paths).(attribute.Map)
	if !ok {
		return attribute.Item{}
	}
	return attribute.Item(picked)
}

// pick returns the parts of v at the paths, or nil if there are none.
func pick(v attribute.Value, paths []path) attribute.Value {
	if slices.ContainsFunc(paths, func(p path) bool { return len(p) == 0 }) {
		return v
	}
	switch v := v.(type) {
	case attribute.Map:
		return pickMembers(v, paths)
	case attribute.List:
		return pickElements(v, paths)
	}
	return nil
}

func pickMembers(m attribute.Map, paths []path) attribute.Value {
	picked := make(attribute.Map)
	for name, rest := range byFirst(paths) {
		if v, ok := m[name.name]; ok {
			if part := pick(v, rest); part != nil {
				picked[name.name] = part
			}
		}
	}
	if len(picked) == 0 {
		return nil
	}
	return picked
}

func pickElements(l attribute.List, paths []path) attribute.Value {
	picked := make(attribute.List, 0, len(paths))
	groups := byFirst(paths)
	for i, v := range l {
		if rest, ok := groups[element{index: i}]; ok {
			if part := pick(v, rest); part != nil {
				picked = append(picked, part)
			}
		}
	}
	if len(picked) == 0 {
		return nil
	}
	return picked
}

// byFirst groups paths by their first element, and removes that element.
func byFirst(paths []path) map[element][]path {
	groups := make(map[element][]path)
	for _, p := range paths {
		groups[p[0]] = append(groups[p[0]], p[1:])
	}
	return groups
}
