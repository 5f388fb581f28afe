package cloudwatch

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// node is a part of a metric math expression.
type node interface {
	evaluate(e *evaluation) (value, error)
}

type (
	number    float64
	reference string // the id of a query
	binary    struct {
		operator    string
		left, right node
	}
	diff struct{ of node }
	fill struct{ of, with node }
)

var operators = map[string]func(x, y float64) float64{
	"+": func(x, y float64) float64 { return x + y },
	"-": func(x, y float64) float64 { return x - y },
	"*": func(x, y float64) float64 { return x * y },
	"/": func(x, y float64) float64 { return x / y },
	"^": math.Pow,
}

// precedence is how closely the operators bind.
var precedence = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}

const (
	maxExpression = 2048 // characters, as AWS sets it
	maxNesting    = 64
)

var tokens = regexp.MustCompile(`^(?:[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*|[-+*/^(),])`)

// parser reads an expression from the left.
type parser struct {
	operation string // for the words of a refusal
	text      string
	tokens    []string
	depth     int
}

// parse reads an expression. It refuses by name what this stand-in does not
// compute.
func parse(operation, text string) (node, error) {
	p := &parser{operation: operation, text: text}
	if len(text) > maxExpression {
		return nil, invalid("An expression is longer than %d characters.", maxExpression)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		token := tokens.FindString(rest)
		if token == "" {
			return nil, p.unknown(strings.Fields(rest)[0])
		}
		p.tokens = append(p.tokens, token)
		rest = rest[len(token):]
	}
	n, err := p.terms(1)
	if err == nil && p.peek() != "" {
		err = p.wrong(p.peek())
	}
	return n, err
}

// unknown refuses what AWS may know and this stand-in does not.
func (p *parser) unknown(what string) error {
	return unimplemented(p.operation, map[string]bool{
		what + " in the expression " + strconv.Quote(p.text) + ", only + - * / ^, FILL and DIFF": true,
	})
}

func (p *parser) wrong(token string) error {
	if token == "" {
		return invalid("Error in expression %q: it ends too early.", p.text)
	}
	return invalid("Error in expression %q: %s is not expected.", p.text, token)
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	token := p.peek()
	if token != "" {
		p.tokens = p.tokens[1:]
	}
	return token
}

// expect takes a token that has to come.
func (p *parser) expect(token string) error {
	if got := p.next(); got != token {
		return p.wrong(got)
	}
	return nil
}

// terms reads operands with the operators between them that bind at least so closely.
func (p *parser) terms(closeness int) (node, error) {
	left, err := p.operand()
	for err == nil {
		operator := p.peek()
		binds := precedence[operator]
		if binds == 0 || binds < closeness {
			return left, nil
		}
		p.next()
		var right node
		if right, err = p.terms(binds + 1); err == nil {
			left = binary{operator, left, right}
		}
	}
	return nil, err
}

func (p *parser) operand() (node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, invalid("Error in expression %q: it is nested too deeply.", p.text)
	}
	defer func() { p.depth-- }()
	token := p.next()
	switch {
	case token == "-":
		of, err := p.operand()
		return binary{"-", number(0), of}, err
	case token == "(":
		n, err := p.terms(1)
		if err == nil {
			err = p.expect(")")
		}
		return n, err
	case token == "" || token == ")" || token == "," || precedence[token] > 0:
		return nil, p.wrong(token)
	case p.peek() == "(":
		return p.call(token)
	case queryIDs.MatchString(token):
		return reference(token), nil
	}
	n, err := strconv.ParseFloat(token, 64)
	if err != nil {
		return nil, p.unknown(token)
	}
	return number(n), nil
}

// call reads the arguments of a function.
func (p *parser) call(function string) (node, error) {
	if function != "FILL" && function != "DIFF" {
		return nil, p.unknown(function)
	}
	p.next() // the parenthesis
	of, err := p.terms(1)
	if err != nil {
		return nil, err
	}
	if function == "DIFF" {
		return diff{of}, p.expect(")")
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	with, err := p.terms(1)
	if err == nil {
		err = p.expect(")")
	}
	return fill{of, with}, err
}
