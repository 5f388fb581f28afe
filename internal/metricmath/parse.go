package metricmath

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// node is a part of an expression.
type node interface {
	evaluate(e *Evaluation) (Value, error)
}

type (
	number    float64
	reference string // the id of a query
	keyword   string // REPEAT or LINEAR
	list      []node
	binary    struct {
		operator    string
		left, right node
	}
	call struct {
		function
		name      string
		arguments []node
	}
)

// precedence is how closely the operators bind.
var precedence = map[string]int{
	"OR": 1, "||": 1, "AND": 2, "&&": 2,
	"==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3,
	"+": 4, "-": 4, "*": 5, "/": 5, "^": 6,
}

// parser reads an expression from the left.
type parser struct {
	tokens []string
	depth  int
}

// Expression is a parsed expression. The zero value is not valid.
type Expression struct{ root node }

// Parse parses an expression. The error says what is wrong with it, or is an
// [*UnsupportedError].
func Parse(text string) (Expression, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return Expression{}, err
	}
	p := &parser{tokens: tokens}
	n, err := p.terms(1)
	if err == nil && p.peek() != "" {
		err = unexpected(p.peek())
	}
	return Expression{n}, err
}

var ids = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,254}$`)

// IsID reports whether CloudWatch takes the text as the Id of a query: a lowercase
// letter, and up to 254 letters, digits and underscores.
func IsID(text string) bool { return ids.MatchString(text) }

func unexpected(t string) error {
	if t == "" {
		return errors.New("it ends too early: complete it")
	}
	return fmt.Errorf("%s is not expected where it stands: correct the expression", t)
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

// expect takes a token that has to come.
func (p *parser) expect(t string) error {
	if got := p.next(); got != t {
		return unexpected(got)
	}
	return nil
}

// terms reads operands and the operators between them that bind at least as
// closely as level.
func (p *parser) terms(level int) (node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("it is nested more than %d deep: simplify it", maxNesting)
	}
	defer func() { p.depth-- }()
	left, err := p.operand()
	for err == nil && precedence[p.peek()] >= level {
		operator := p.next()
		var right node
		right, err = p.terms(precedence[operator] + 1)
		left = binary{operator, left, right}
	}
	return left, err
}

func (p *parser) operand() (node, error) {
	switch t := p.next(); {
	case t == "-":
		of, err := p.terms(precedence["^"])
		return binary{"-", number(0), of}, err
	case t == "(":
		n, err := p.terms(1)
		if err == nil {
			err = p.expect(")")
		}
		return n, err
	case t == "[":
		items, err := p.items("]")
		return list(items), err
	case p.peek() == "(" && t != "" && isWord(t):
		p.next()
		return p.call(t)
	case t == "REPEAT" || t == "LINEAR":
		return keyword(t), nil
	case IsID(t):
		return reference(t), nil
	case t != "" && (t[0] == '.' || t[0] >= '0' && t[0] <= '9'):
		f, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is too large: write a smaller number", t)
		}
		return number(f), nil
	default:
		return nil, unexpected(t)
	}
}

func isWord(t string) bool {
	return (t[0] == '_' || t[0]|0x20 >= 'a' && t[0]|0x20 <= 'z') && precedence[t] == 0
}

// call reads the arguments of a function.
func (p *parser) call(name string) (node, error) {
	f, ok := functions()[name]
	if !ok {
		return nil, unknownFunction(name)
	}
	arguments, err := p.items(")")
	switch {
	case err != nil:
		return nil, err
	case len(arguments) < f.least || len(arguments) > f.most:
		return nil, fmt.Errorf("%s has %d arguments: it takes %s", name, len(arguments), f.takes)
	}
	return call{f, name, arguments}, checkKeywords(name, arguments)
}

// checkKeywords lets keywords stand as the second argument of FILL only.
func checkKeywords(name string, arguments []node) error {
	i := slices.IndexFunc(arguments, func(n node) bool { _, ok := n.(keyword); return ok })
	if i < 0 || name == "FILL" && i == 1 {
		return nil
	}
	return unexpected(string(arguments[i].(keyword)))
}

// items reads expressions with commas between them, up to and with the token
// that ends them.
func (p *parser) items(end string) ([]node, error) {
	var all []node
	if p.peek() == end {
		p.next()
		return nil, nil
	}
	for {
		n, err := p.terms(1)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		switch t := p.next(); t {
		case ",":
		case end:
			return all, nil
		default:
			return nil, unexpected(t)
		}
	}
}
