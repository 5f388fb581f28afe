package metricmath

import (
	"errors"
	"fmt"
	"math"
)

// function is one of metric math.
type function struct {
	least, most int
	takes       string // the arguments, in words
	apply       func(e *Evaluation, arguments []node) (Value, error)
}

// functions are those that there are, by name.
func functions() map[string]function {
	const one, many = "a series", "a list of series"
	return map[string]function{
		"FILL":   {2, 2, "a series and a number, REPEAT or LINEAR", fill},
		"IF":     {2, 3, "a condition and one or two values", choose},
		"DIFF":   {1, 1, one, differences(func(d, _ float64) float64 { return d })},
		"RATE":   {1, 1, one, differences(func(d, seconds float64) float64 { return d / seconds })},
		"ABS":    {1, 1, one, each(math.Abs)},
		"CEIL":   {1, 1, one, each(math.Ceil)},
		"FLOOR":  {1, 1, one, each(math.Floor)},
		"PERIOD": {1, 1, "a metric", period},
		"MAX":    {1, 1, many, across(func(x, y float64) float64 { return max(x, y) })},
		"MIN":    {1, 1, many, across(func(x, y float64) float64 { return min(x, y) })},
		"SUM":    {1, 1, many, across(func(x, y float64) float64 { return x + y })},
		"AVG":    {1, 1, many, average},
	}
}

func (c call) evaluate(e *Evaluation) (Value, error) {
	v, err := c.apply(e, c.arguments)
	if err != nil {
		return v, fmt.Errorf("%s: %w", c.name, err)
	}
	return v, nil
}

// fill gives the periods without a value one.
func fill(e *Evaluation, arguments []node) (Value, error) {
	in, err := e.series(arguments[0], "its first argument")
	if err != nil {
		return Value{}, err
	}
	if k, ok := arguments[1].(keyword); ok {
		if k == "REPEAT" {
			return repeat(in)
		}
		return interpolate(in)
	}
	with, err := arguments[1].evaluate(e)
	switch {
	case err != nil:
		return with, err
	case with.Series != nil || with.List != nil:
		return Value{}, unsupported("filling with a series")
	}
	return in.Grid.fill(func(at int64) (float64, bool) {
		if value, ok := in.at(at); ok {
			return value, true
		}
		return with.Number, true
	})
}

// repeat gives a period without a value the one before it. There is none before
// the first value.
func repeat(in *Series) (Value, error) {
	last, seen := 0.0, false
	return in.Grid.fill(func(at int64) (float64, bool) {
		if value, ok := in.at(at); ok {
			last, seen = value, true
		}
		return last, seen
	})
}

// interpolate draws a line across each gap between two values. There is no line
// before the first value and after the last.
func interpolate(in *Series) (Value, error) {
	next := 0 // the index of the first point that is not before the period
	return in.Grid.fill(func(at int64) (float64, bool) {
		for next < len(in.Points) && in.Points[next].At < at {
			next++
		}
		if next == len(in.Points) {
			return 0, false
		}
		to := in.Points[next]
		if next == 0 || to.At == at {
			return to.Value, to.At == at
		}
		from := in.Points[next-1]
		share := float64(at-from.At) / float64(to.At-from.At)
		return from.Value + share*(to.Value-from.Value), true
	})
}

// choose takes one of two values for each period in which the condition has a
// value. The first counts as 0 where it is missing; the second is left out there.
func choose(e *Evaluation, arguments []node) (Value, error) {
	var of [3]Value
	for i, argument := range arguments {
		v, err := argument.evaluate(e)
		if err != nil {
			return Value{}, err
		}
		if v.List != nil {
			return Value{}, unsupported("a list of series")
		}
		of[i] = v
	}
	condition, yes, no := of[0], of[1], of[2]
	if condition.Series == nil && yes.Series == nil && no.Series == nil {
		return Value{}, errors.New("it needs a series, not numbers only: name a metric")
	}
	grid, err := gridOf(condition.Series, yes.Series, no.Series)
	if err != nil {
		return Value{}, err
	}
	if len(arguments) < 3 {
		no = Value{Series: &Series{Grid: grid}}
	}
	if condition.Series == nil {
		return constant(condition.Number, yes, no, grid)
	}
	out := &Series{Grid: grid}
	for _, p := range condition.Series.Points {
		if p.Value != 0 {
			value, _ := yes.at(p.At)
			out.Add(p.At, value)
		} else if value, ok := no.at(p.At); ok {
			out.Add(p.At, value)
		}
	}
	return Value{Series: out}, nil
}

// constant chooses by a condition that is the same in all periods.
func constant(condition float64, yes, no Value, grid Grid) (Value, error) {
	taken := yes
	switch {
	case !finite(condition):
		return Value{Series: &Series{Grid: grid}}, nil
	case condition == 0:
		taken = no
	}
	if taken.Series != nil {
		return taken, nil
	}
	return grid.fill(taken.at)
}

// differences combines each value less the one before it with the seconds
// between the two.
func differences(f func(d, seconds float64) float64) func(*Evaluation, []node) (Value, error) {
	return func(e *Evaluation, arguments []node) (Value, error) {
		in, err := e.series(arguments[0], "it")
		if err != nil {
			return Value{}, err
		}
		out := &Series{Grid: in.Grid}
		for i := 1; i < len(in.Points); i++ {
			last, p := in.Points[i-1], in.Points[i]
			out.Add(p.At, f(p.Value-last.Value, float64(p.At-last.At)))
		}
		return Value{Series: out}, nil
	}
}

// each applies a function to each value.
func each(f func(x float64) float64) func(*Evaluation, []node) (Value, error) {
	return func(e *Evaluation, arguments []node) (Value, error) {
		in, err := e.series(arguments[0], "it")
		if err != nil {
			return Value{}, err
		}
		out := &Series{Grid: in.Grid}
		for _, p := range in.Points {
			out.Add(p.At, f(p.Value))
		}
		return Value{Series: out}, nil
	}
}

// period gives the seconds of a metric's period.
func period(e *Evaluation, arguments []node) (Value, error) {
	if id, ok := arguments[0].(reference); ok {
		if _, expression := e.Expressions[string(id)]; !expression {
			v, err := e.Query(string(id))
			if err != nil {
				return v, err
			}
			return Value{Number: float64(v.Series.Grid.Period)}, nil
		}
	}
	return Value{}, errors.New("it takes the Id of a metric")
}

// across combines the values that several series have for a period.
func across(f func(x, y float64) float64) func(*Evaluation, []node) (Value, error) {
	return func(e *Evaluation, arguments []node) (Value, error) {
		all, err := e.list(arguments[0])
		if err != nil {
			return Value{}, err
		}
		out, err := combine(all, f)
		return Value{Series: out}, err
	}
}

func combine(all []*Series, f func(x, y float64) float64) (*Series, error) {
	grid, err := gridOf(all...)
	out := &Series{Grid: grid}
	for _, at := range times(all...) {
		total, seen := 0.0, false
		for _, s := range all {
			value, ok := s.at(at)
			switch {
			case !ok:
			case seen:
				total = f(total, value)
			default:
				total, seen = value, true
			}
		}
		out.Add(at, total)
	}
	return out, err
}

// average is a sum, with missing values as 0, by the number of series.
func average(e *Evaluation, arguments []node) (Value, error) {
	all, err := e.list(arguments[0])
	if err != nil {
		return Value{}, err
	}
	sum, err := combine(all, func(x, y float64) float64 { return x + y })
	for i := range sum.Points {
		sum.Points[i].Value /= float64(len(all))
	}
	return Value{Series: sum}, err
}

// list evaluates what has to be a list. Over a single series these functions
// give a number that depends on how far back an evaluation happens to look.
func (e *Evaluation) list(n node) ([]*Series, error) {
	v, err := n.evaluate(e)
	switch {
	case err != nil:
		return nil, err
	case v.Series != nil:
		return nil, unsupported("a single series, which AWS advises against in alarms,")
	case len(v.List) == 0:
		return nil, errors.New("it needs a list of series, as in [m1, m2]")
	}
	return v.List, nil
}
