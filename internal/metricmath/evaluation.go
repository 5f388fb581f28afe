package metricmath

import (
	"errors"
	"fmt"
	"math"
)

// Evaluation computes the queries of one alarm or one request. It computes each
// query once. It is not safe for concurrent use.
type Evaluation struct {
	// Expressions holds the parsed expressions by the id of their query.
	Expressions map[string]Expression
	// Metric returns the series of the metric with the given id; ok is false if no
	// query has the id. Series of the same period must have the same grid.
	Metric func(id string) (s *Series, ok bool)
	// MissingAsZero makes an operator between two series count a missing value as 0
	// where the other series has one. Without it there is no result.
	MissingAsZero bool

	results map[string]*Value // nil: under way
}

// Query returns the result of the query with the given id. The error says what is
// wrong with the expression, or is an [*UnsupportedError].
func (e *Evaluation) Query(id string) (Value, error) {
	if v, ok := e.results[id]; ok {
		if v == nil {
			return Value{}, fmt.Errorf("the expression of %s depends on itself: break the circle", id)
		}
		return *v, nil
	}
	if e.results == nil {
		e.results = map[string]*Value{}
	}
	e.results[id] = nil
	v, err := e.compute(id)
	if err == nil {
		e.results[id] = &v
	}
	return v, err
}

func (e *Evaluation) compute(id string) (Value, error) {
	if expression, ok := e.Expressions[id]; ok {
		return expression.root.evaluate(e)
	}
	if s, ok := e.Metric(id); ok {
		return Value{Series: s}, nil
	}
	return Value{}, fmt.Errorf("an expression names %s, which is the Id of no query: correct it", id)
}

func (n number) evaluate(*Evaluation) (Value, error) { return Value{Number: float64(n)}, nil }

func (r reference) evaluate(e *Evaluation) (Value, error) { return e.Query(string(r)) }

func (k keyword) evaluate(*Evaluation) (Value, error) { return Value{}, unexpected(string(k)) }

func (l list) evaluate(e *Evaluation) (Value, error) {
	out := Value{List: []*Series{}}
	for _, item := range l {
		s, err := e.series(item, "a list")
		if err != nil {
			return Value{}, err
		}
		out.List = append(out.List, s)
	}
	return out, nil
}

// series evaluates a node that has to be a series. The word whose names what
// needs it.
func (e *Evaluation) series(n node, whose string) (*Series, error) {
	v, err := n.evaluate(e)
	switch {
	case err != nil:
		return nil, err
	case v.List != nil:
		return nil, unsupported("a list of series within %s", whose)
	case v.Series == nil:
		return nil, fmt.Errorf("%s needs a series, not a number: name a metric", whose)
	}
	return v.Series, nil
}

var operators = map[string]func(x, y float64) float64{
	"+":   func(x, y float64) float64 { return x + y },
	"-":   func(x, y float64) float64 { return x - y },
	"*":   func(x, y float64) float64 { return x * y },
	"/":   func(x, y float64) float64 { return x / y },
	"^":   math.Pow,
	"==":  func(x, y float64) float64 { return truth(x == y) },
	"!=":  func(x, y float64) float64 { return truth(x != y) },
	"<":   func(x, y float64) float64 { return truth(x < y) },
	">":   func(x, y float64) float64 { return truth(x > y) },
	"<=":  func(x, y float64) float64 { return truth(x <= y) },
	">=":  func(x, y float64) float64 { return truth(x >= y) },
	"AND": func(x, y float64) float64 { return truth(x != 0 && y != 0) },
	"OR":  func(x, y float64) float64 { return truth(x != 0 || y != 0) },
	"&&":  func(x, y float64) float64 { return truth(x != 0 && y != 0) },
	"||":  func(x, y float64) float64 { return truth(x != 0 || y != 0) },
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

var errList = errors.New("a list of series stands next to an operator: put it into MAX, MIN, SUM or AVG")

// evaluate combines two numbers, or the values of each period. A result that is
// not a finite number, as of a division by zero, is left out.
func (b binary) evaluate(e *Evaluation) (Value, error) {
	left, err := b.left.evaluate(e)
	if err != nil {
		return left, err
	}
	right, err := b.right.evaluate(e)
	if err != nil {
		return right, err
	}
	f := operators[b.operator]
	switch {
	case left.List != nil || right.List != nil:
		return Value{}, errList
	case left.Series == nil && right.Series == nil:
		return Value{Number: f(left.Number, right.Number)}, nil
	}
	grid, err := gridOf(left.Series, right.Series)
	out := &Series{Grid: grid}
	zero := e.MissingAsZero && left.Series != nil && right.Series != nil
	for _, at := range times(left.Series, right.Series) {
		x, hasX := left.at(at)
		y, hasY := right.at(at)
		if hasX && hasY || zero {
			out.Add(at, f(x, y))
		}
	}
	return Value{Series: out}, err
}
