package expression

import (
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Update parses an UpdateExpression; a nil text changes nothing.
func (s *Scope) Update(text *string) (Update, error) {
	if text == nil {
		return Update{}, nil
	}
	p, err := s.parser("UpdateExpression", *text)
	if err != nil {
		return Update{}, err
	}
	var u Update
	for p.next.kind != end {
		if err := p.section(&u); err != nil {
			return Update{}, err
		}
	}
	p.checkDistinct(p.targets)
	if err := p.finish(); err != nil {
		return Update{}, err
	}
	u.nested = p.nested
	// Elements that are set beyond the end of a list are appended in the order
	// of their indexes. Indexes of removed elements refer to the list before
	// any is removed.
	slices.SortStableFunc(u.sets, func(a, b action) int { return comparePaths(a.path, b.path) })
	slices.SortStableFunc(u.adds, func(a, b action) int { return comparePaths(a.path, b.path) })
	slices.SortStableFunc(u.removals, func(a, b action) int { return comparePaths(b.path, a.path) })
	return u, nil
}

// section parses a keyword and its actions.
func (p *parser) section(u *Update) error {
	keyword := strings.ToUpper(p.next.text)
	var into *[]action
	var parse func() (action, error)
	switch keyword {
	case "SET":
		into, parse = &u.sets, p.set
	case "REMOVE":
		into, parse = &u.removals, p.removal
	case "ADD":
		into, parse = &u.adds, func() (action, error) { return p.collectionAction(keyword, isAddable) }
	case "DELETE":
		into, parse = &u.deletions, func() (action, error) { return p.collectionAction(keyword, isSet) }
	default:
		return p.syntaxError()
	}
	if *into != nil {
		p.fail(repeatedSection, p.invalid(`The "%s" section can only be used once in an update expression;`, keyword))
	}
	if err := p.advance(); err != nil {
		return err
	}
	actions, err := list(p, parse)
	*into = actions
	return err
}

func (p *parser) set() (action, error) {
	target, err := p.target()
	if err != nil {
		return action{}, err
	}
	if err := p.expect("="); err != nil {
		return action{}, err
	}
	source, err := p.sum()
	return action{target, source.value, source.known}, err
}

func (p *parser) removal() (action, error) {
	target, err := p.target()
	return action{path: target, value: constant(nil)}, err
}

// target parses the path that an action changes.
func (p *parser) target() (path, error) {
	target, err := p.path()
	p.targets = append(p.targets, target)
	return target, err
}

// collectionAction parses an action of ADD or DELETE: a path and a value.
func (p *parser) collectionAction(keyword string, allowed func(attribute.Value) bool) (action, error) {
	target, err := p.target()
	if err != nil {
		return action{}, err
	}
	v, err := p.value()
	if err != nil {
		return action{}, err
	}
	if !allowed(v) {
		p.fail(everythingElse, p.invalid("Incorrect operand type for operator or function; "+
			"operator: %s, operand type: %s", keyword, typeNames[v.Type()]))
	}
	return action{target, constant(v), v}, nil
}

// typeNames are the names of types in the messages for ADD and DELETE.
var typeNames = map[attribute.Type]string{
	attribute.TypeString: "STRING", attribute.TypeNumber: "NUMBER", attribute.TypeBinary: "BINARY",
	attribute.TypeBool: "BOOLEAN", attribute.TypeNull: "NULL", attribute.TypeList: "LIST", attribute.TypeMap: "MAP",
	attribute.TypeStringSet: "SS", attribute.TypeNumberSet: "NS", attribute.TypeBinarySet: "BS",
}

func isSet(v attribute.Value) bool {
	_, ok := v.(attribute.Set)
	return ok
}

func isAddable(v attribute.Value) bool { return isSet(v) || v.Type() == attribute.TypeNumber }
