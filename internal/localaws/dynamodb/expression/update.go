package expression

import (
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Update is a change of an item. The zero Update changes nothing.
type Update struct {
	sets, removals, adds, deletions []action
	nested                          []string
	legacy                          bool // made of Changes
}

// OnlyRemoves reports whether the update is of the older form and cannot create
// an item: it only deletes attributes, or parts of them.
func (u Update) OnlyRemoves() bool {
	return u.legacy && len(u.sets)+len(u.adds) == 0 && len(u.removals)+len(u.deletions) > 0
}

// action is one change at one path.
type action struct {
	path path
	// value returns the value to set, add or delete.
	value evaluation
	known attribute.Value // that value, if it is the same for every item
}

// Names returns the attributes that the update changes, in whole or in part.
func (u Update) Names() []string {
	var names []string
	for _, p := range u.paths() {
		names = append(names, p[0].name)
	}
	return names
}

// Known returns the attributes that the update sets as a whole, or adds to, to or
// with a value that does not depend on the item.
func (u Update) Known() attribute.Item {
	values := make(attribute.Item)
	for _, a := range slices.Concat(u.sets, u.adds) {
		if a.known != nil && len(a.path) == 1 {
			values[a.path[0].name] = a.known
		}
	}
	return values
}

// Nested returns the attributes of which the update reads or changes parts.
func (u Update) Nested() []string { return u.nested }

// Updated returns a projection of the parts that the update changes.
func (u Update) Updated() Projection {
	return Projection{paths: append([]path{}, u.paths()...)}
}

func (u Update) paths() []path {
	var paths []path
	for _, a := range slices.Concat(u.sets, u.removals, u.adds, u.deletions) {
		paths = append(paths, a.path)
	}
	return paths
}

// Apply returns the item after the update; the old item is not changed. All
// operands have the values of the old item, whatever the order of the actions.
func (u Update) Apply(old attribute.Item) (attribute.Item, error) {
	var updated attribute.Value = attribute.Map(old)
	if old == nil {
		updated = attribute.Map{}
	}
	for _, group := range []struct {
		actions []action
		new     func(old, operand attribute.Value) (attribute.Value, error)
	}{{u.sets, replace}, {u.removals, remove}, {u.adds, add}, {u.deletions, subtract}} {
		for _, a := range group.actions {
			operand, err := a.value(old)
			if err != nil {
				return nil, err
			}
			v, err := group.new(a.path.resolve(old), operand)
			if err != nil && u.legacy {
				return nil, attribute.Invalidf("Type mismatch for attribute to update")
			}
			if err != nil {
				return nil, err
			}
			if updated, err = with(updated, a.path, v); err != nil {
				return nil, err
			}
		}
	}
	return attribute.Item(updated.(attribute.Map)), nil
}

// with returns a copy of container with v at the path. A nil v removes what is
// there.
func with(container attribute.Value, p path, v attribute.Value) (attribute.Value, error) {
	switch c := container.(type) {
	case attribute.Map:
		if p[0].name != "" {
			return withMember(c, p, v)
		}
	case attribute.List:
		if p[0].name == "" {
			return withElement(c, p, v)
		}
	}
	return nil, attribute.Invalidf("The document path provided in the update expression is invalid for update")
}

func withMember(m attribute.Map, p path, v attribute.Value) (attribute.Value, error) {
	if len(p) > 1 {
		inner, err := with(m[p[0].name], p[1:], v)
		if err != nil {
			return nil, err
		}
		v = inner
	}
	m = maps.Clone(m)
	if v == nil {
		delete(m, p[0].name)
	} else {
		m[p[0].name] = v
	}
	return m, nil
}

func withElement(l attribute.List, p path, v attribute.Value) (attribute.Value, error) {
	i := p[0].index
	if len(p) > 1 {
		if i >= len(l) {
			return with(nil, p[1:], v)
		}
		inner, err := with(l[i], p[1:], v)
		if err != nil {
			return nil, err
		}
		v = inner
	}
	l = slices.Clone(l)
	switch {
	case i < len(l) && v != nil:
		l[i] = v
	case i < len(l):
		l = slices.Delete(l, i, i+1)
	case v != nil:
		l = append(l, v)
	}
	return l, nil
}

func replace(_, v attribute.Value) (attribute.Value, error) { return v, nil }

func remove(_, _ attribute.Value) (attribute.Value, error) { return nil, nil }

func add(old, v attribute.Value) (attribute.Value, error) {
	switch v := v.(type) {
	case attribute.Number:
		switch old := old.(type) {
		case nil:
			return v, nil
		case attribute.Number:
			return old.Add(v)
		}
	case attribute.Set:
		switch old := old.(type) {
		case nil:
			return v, nil
		case attribute.Set:
			if old.Type() == v.Type() {
				return old.Union(v), nil
			}
		}
	case attribute.List: // only of the older form
		switch old := old.(type) {
		case nil:
			return v, nil
		case attribute.List:
			return slices.Concat(old, v), nil
		}
	}
	return nil, wrongType()
}

// subtract returns nil if nothing is left: a set may not be empty.
func subtract(old, v attribute.Value) (attribute.Value, error) {
	if old == nil {
		return nil, nil
	}
	set, ok := old.(attribute.Set)
	if !ok || set.Type() != v.Type() {
		return nil, wrongType()
	}
	if rest := set.Minus(v.(attribute.Set)); rest.Len() > 0 {
		return rest, nil
	}
	return nil, nil
}

func wrongType() error {
	return attribute.Invalidf("An operand in the update expression has an incorrect data type")
}
