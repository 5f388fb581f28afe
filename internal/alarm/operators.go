package alarm

import (
	"errors"
	"fmt"
	"math"
)

// value is what an expression gives: a number, a series or several of them.
type value struct {
	number float64
	series series   // nil: no series
	list   []series // nil: no list
}

// evaluation computes the queries of an alarm once.
type evaluation struct {
	watched *watched
	data    store
	end     int64 // the minute after the newest period
	length  int   // of a series
	options Options
	results map[string]*value // nil: under way
}

// query computes the query of an id.
func (e *evaluation) query(id string) (value, error) {
	if v, ok := e.results[id]; ok {
		if v == nil {
			return value{}, fmt.Errorf("the expression of %s depends on itself: break the circle", id)
		}
		return *v, nil
	}
	e.results[id] = nil
	v, err := e.find(id)
	if err == nil {
		e.results[id] = &v
	}
	return v, err
}

func (e *evaluation) find(id string) (value, error) {
	for _, q := range e.watched.definition.Queries {
		switch {
		case q.ID != id:
		case q.Expression != "":
			return e.watched.expressions[id].evaluate(e)
		default:
			return value{series: e.data.read(q, e.end, e.length)}, nil
		}
	}
	return value{}, fmt.Errorf("an expression names %s, which is the Id of no query: correct it", id)
}

func (n number) evaluate(*evaluation) (value, error) { return value{number: float64(n)}, nil }

func (r reference) evaluate(e *evaluation) (value, error) { return e.query(string(r)) }

func (k keyword) evaluate(*evaluation) (value, error) { return value{}, unexpected(string(k)) }

// evaluate gives the series of a list.
func (l list) evaluate(e *evaluation) (value, error) {
	out := value{list: []series{}}
	for _, item := range l {
		v, err := e.series(item, "a list")
		if err != nil {
			return value{}, err
		}
		out.list = append(out.list, v)
	}
	return out, nil
}

// series evaluates what has to be a series for the one who needs it.
func (e *evaluation) series(n node, whose string) (series, error) {
	v, err := n.evaluate(e)
	switch {
	case err != nil:
		return nil, err
	case v.list != nil:
		return nil, unsupported("a list of series within %s", whose)
	case v.series == nil:
		return nil, fmt.Errorf("%s needs a series, not a number: name a metric", whose)
	}
	return v.series, nil
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

// evaluate combines numbers, or the values of the same periods. Results that
// are no number, as of a division by zero, are left out.
func (b binary) evaluate(e *evaluation) (value, error) {
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
	case left.list != nil || right.list != nil:
		return value{}, errList
	case left.series == nil && right.series == nil:
		return value{number: f(left.number, right.number)}, nil
	}
	out := make(series, e.length)
	for i := range out {
		x, y := left.at(i), right.at(i)
		if e.counts(x, y, left.series == nil || right.series == nil) {
			out[i] = finite(f(x.value, y.value))
		}
	}
	return value{series: out}, nil
}

// counts tells whether two samples give one.
func (e *evaluation) counts(x, y sample, scalar bool) bool {
	if e.options.MissingAsZero && !scalar {
		return x.present || y.present
	}
	return x.present && y.present
}

// at is the sample of a period; a number has the same in all.
func (v value) at(i int) sample {
	if v.series == nil {
		return finite(v.number)
	}
	return v.series[i]
}

// finite is a sample of what is a finite number.
func finite(f float64) sample {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return sample{}
	}
	return sample{f, true}
}
