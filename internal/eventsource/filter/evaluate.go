package filter

import "slices"

// evaluation matches one body against one pattern.
type evaluation struct {
	body any
	json bool
	// sameFormat says that a part of the pattern is for the body's format.
	sameFormat bool
}

func (e *evaluation) matches(p *object) bool {
	for _, f := range p.fields {
		if !e.matchesBody(f) {
			return false
		}
	}
	return all(p.either, e.matches)
}

// matchesBody first checks that body and pattern have the same format.
func (e *evaluation) matchesBody(f field) bool {
	if e.json != (f.inner != nil) {
		return false
	}
	e.sameFormat = true
	if f.inner == nil {
		return accepts(f.rules, []any{e.body})
	}
	return matches(f.inner, e.body, []any{e.body})
}

// all reports whether at least one alternative of each $or matches.
func all(either [][]*object, match func(*object) bool) bool {
	return !slices.ContainsFunc(either, func(alternatives []*object) bool {
		return !slices.ContainsFunc(alternatives, match)
	})
}

// matches compares a value with the pattern of an object. If the value is a
// list, one item must match all fields. siblings are all values at the same
// path in all items of the lists above: a member that exists in one item
// exists.
func matches(p *object, value any, siblings []any) bool {
	if items, ok := value.([]any); ok && len(items) > 0 {
		return slices.ContainsFunc(items, func(item any) bool { return matches(p, item, siblings) })
	}
	members, _ := value.(map[string]any)
	for _, f := range p.fields {
		below := step(siblings, f.name)
		if f.inner != nil {
			if !matches(f.inner, members[f.name], below) {
				return false
			}
		} else if !accepts(f.rules, leaves(member(members, f.name))) && !absent(f.rules, below) {
			return false
		}
	}
	return all(p.either, func(o *object) bool { return matches(o, value, siblings) })
}

// step returns the values of a member in all objects among the values.
func step(values []any, name string) []any {
	var below []any
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			below = append(below, step(v, name)...)
		case map[string]any:
			below = append(below, member(v, name)...)
		}
	}
	return below
}

// member returns a slice with the member's value, or an empty one if it is
// absent. That distinguishes null from absent.
func member(members map[string]any, name string) []any {
	if v, ok := members[name]; ok {
		return []any{v}
	}
	return nil
}

// leaves returns the scalar values, also those in nested lists. It ignores
// objects.
func leaves(values []any) []any {
	var found []any
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			found = append(found, leaves(v)...)
		case map[string]any:
		default:
			found = append(found, v)
		}
	}
	return found
}

// accepts reports whether a rule accepts one of the values.
func accepts(rules []rule, values []any) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return slices.ContainsFunc(values, r.accepts) })
}

// absent reports whether a rule requires that a member does not exist, and it
// does not.
func absent(rules []rule, values []any) bool {
	return slices.Contains(rules, rule(exists{false})) && len(leaves(values)) == 0
}
