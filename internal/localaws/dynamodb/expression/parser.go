package expression

import (
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Limits of the developer guide ("Limits on expressions").
const (
	maxBytes     = 4096
	maxOperators = 300
	maxOperands  = 100 // operands of IN
)

// parser is a recursive-descent parser for one expression, with one token of
// lookahead.
type parser struct {
	scope     *Scope
	kind      string // the parameter of the request, for messages
	lexer     lexer
	next      token
	previous  int // offset of the token before next
	operators int
	deferred  [ranks]error // the first error of each rank
	nested    []string     // attributes of which the expression has longer paths
	targets   []path       // what an update changes, in the order of the expression
}

// rank orders the errors of an expression that has correct syntax, as AWS
// reports them: one of a lower rank hides those of a higher one, wherever they
// are in the expression.
type rank int

const (
	redundantParentheses rank = iota
	unknownFunction
	misplacedFunction
	reservedWord
	repeatedSection
	everythingElse
	ranks
)

// fail records an error and lets the parser go on.
func (p *parser) fail(r rank, err error) {
	if p.deferred[r] == nil {
		p.deferred[r] = err
	}
}

// finish returns the error of the expression, after all of it was parsed.
func (p *parser) finish() error {
	if p.next.kind != end {
		return p.syntaxError()
	}
	for _, err := range p.deferred {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Scope) parser(kind, text string) (*parser, error) {
	s.parsed = true
	p := &parser{scope: s, kind: kind, lexer: lexer{text: text}}
	if len(text) > maxBytes {
		return nil, p.invalid("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.next.kind == end {
		return nil, p.invalid("The expression can not be empty;")
	}
	return p, nil
}

func (p *parser) invalid(format string, args ...any) error {
	return attribute.Invalidf("Invalid "+p.kind+": "+format, args...)
}

// syntaxError returns an error that shows the next token and its neighbours.
func (p *parser) syntaxError() error {
	after := p.lexer
	_, _ = after.next()
	near := strings.TrimSpace(after.text[p.previous:after.at])
	return p.invalid(`Syntax error; token: "%s", near: "%s"`, p.next.text, near)
}

func (p *parser) advance() error {
	t, ok := p.lexer.next()
	p.previous, p.next = p.next.at, t
	if !ok {
		return p.syntaxError()
	}
	return nil
}

// take skips the next token if it is the symbol or keyword, and reports whether
// it was.
func (p *parser) take(text string) (taken bool, err error) {
	if !p.next.is(text) {
		return false, nil
	}
	return true, p.advance()
}

// expect skips the next token. It returns an error if it is not the symbol or
// keyword.
func (p *parser) expect(text string) error {
	if !p.next.is(text) {
		return p.syntaxError()
	}
	return p.advance()
}

// operator counts an operator or function, and fails if there are more than the
// limit.
func (p *parser) operator() {
	if p.operators++; p.operators > maxOperators {
		p.fail(everythingElse, p.invalid("The expression contains too many operators; "+
			"operator count: %d, maximum: %d", p.operators, maxOperators))
	}
}

// list parses one or more elements with parse, separated by commas.
func list[T any](p *parser, parse func() (T, error)) ([]T, error) {
	var all []T
	for {
		one, err := parse()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if more, err := p.take(","); !more || err != nil {
			return all, err
		}
	}
}

// path parses a document path: names separated by dots, and indexes. It can
// begin with a path in parentheses.
func (p *parser) path() (path, error) {
	if p.next.is("(") {
		return p.pathInParentheses()
	}
	first, err := p.name()
	if err != nil {
		return nil, err
	}
	return p.pathFrom(path{first})
}

func (p *parser) pathInParentheses() (path, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.next.is("(") {
		p.fail(redundantParentheses, p.redundant())
	}
	steps, err := p.path()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return p.pathFrom(steps)
}

func (p *parser) redundant() error { return p.invalid("The expression has redundant parentheses;") }

// pathFrom parses the rest of a path.
func (p *parser) pathFrom(steps path) (path, error) {
	for {
		var step element
		var err error
		switch {
		case p.next.is("."):
			if err = p.advance(); err == nil {
				step, err = p.name()
			}
		case p.next.is("["):
			step, err = p.index()
		default:
			if len(steps) > 1 {
				p.nested = append(p.nested, steps[0].name)
			}
			return steps, nil
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
}

// name parses the name of an attribute, or a placeholder for one.
func (p *parser) name() (element, error) {
	t := p.next
	switch t.kind {
	case word:
		if isKeyword(t) {
			return element{}, p.syntaxError()
		}
		if isReserved(t.text) {
			p.fail(reservedWord, p.invalid("Attribute name is a reserved keyword; reserved keyword: %s", t.text))
		}
		return element{name: t.text}, p.advance()
	case namePlace:
		name, ok := p.scope.names[t.text]
		switch {
		case !ok:
			p.fail(everythingElse, p.invalid("An expression attribute name used in the document path is not defined; "+
				"attribute name: %s", t.text))
			name = t.text
		case name == "":
			p.fail(everythingElse, attribute.Invalidf("ExpressionAttributeNames contains invalid value: "+
				"Empty attribute name; key: %s", t.text))
			name = t.text
		}
		p.scope.used[t.text] = true
		return element{name: name}, p.advance()
	}
	return element{}, p.syntaxError()
}

// index parses the index of a list element, in brackets.
func (p *parser) index() (element, error) {
	if err := p.advance(); err != nil {
		return element{}, err
	}
	i, err := strconv.Atoi(p.next.text)
	if p.next.kind != integer || err != nil {
		return element{}, p.syntaxError()
	}
	if err := p.advance(); err != nil {
		return element{}, err
	}
	return element{index: i}, p.expect("]")
}

// value parses a value's placeholder.
func (p *parser) value() (attribute.Value, error) {
	if p.next.kind != valuePlace {
		return nil, p.syntaxError()
	}
	v, ok := p.scope.values[p.next.text]
	if !ok {
		p.fail(everythingElse, p.invalid("An expression attribute value used in expression is not defined; "+
			"attribute value: %s", p.next.text))
		v = attribute.Null{}
	}
	p.scope.used[p.next.text] = true
	return v, p.advance()
}
