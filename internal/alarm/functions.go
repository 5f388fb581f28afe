package alarm

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// function is one of metric math.
type function struct {
	least, most int
	takes       string // the arguments, in words
	apply       func(e *evaluation, arguments []node) (value, error)
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

func (c call) evaluate(e *evaluation) (value, error) {
	v, err := c.apply(e, c.arguments)
	if err != nil {
		return v, fmt.Errorf("%s: %w", c.name, err)
	}
	return v, nil
}

// fill gives the periods without a value one.
func fill(e *evaluation, arguments []node) (value, error) {
	in, err := e.series(arguments[0], "its first argument")
	if err != nil {
		return value{}, err
	}
	out := append(series{}, in...)
	if k, ok := arguments[1].(keyword); ok {
		fillBetween(out, k)
		return value{series: out}, nil
	}
	with, err := arguments[1].evaluate(e)
	switch {
	case err != nil:
		return with, err
	case with.series != nil || with.list != nil:
		return value{}, unsupported("filling with a series")
	}
	for i := range out {
		if !out[i].present {
			out[i] = finite(with.number)
		}
	}
	return value{series: out}, nil
}

// fillBetween repeats the value before a gap, or draws a line across it. There
// is none before the first value, nor a line after the last.
func fillBetween(s series, k keyword) {
	last := -1
	for i := range s {
		if s[i].present {
			for j := last + 1; k == "LINEAR" && last >= 0 && j < i; j++ {
				share := float64(j-last) / float64(i-last)
				s[j] = finite(s[last].value + share*(s[i].value-s[last].value))
			}
			last = i
		} else if k == "REPEAT" && last >= 0 {
			s[i] = s[last]
		}
	}
}

// choose takes one of two values for each period that the condition has. The
// first counts as 0 where it is missing; the second is left out there.
func choose(e *evaluation, arguments []node) (value, error) {
	var of [3]value
	for i, argument := range arguments {
		v, err := argument.evaluate(e)
		if err != nil {
			return value{}, err
		}
		if v.list != nil {
			return value{}, unsupported("a list of series")
		}
		of[i] = v
	}
	condition, yes, no := of[0], of[1], of[2]
	if condition.series == nil && yes.series == nil && no.series == nil {
		return value{}, errors.New("it needs a series, not numbers only: name a metric")
	}
	out := make(series, e.length)
	for i := range out {
		switch c := condition.at(i); {
		case !c.present:
		case c.value != 0:
			out[i] = sample{yes.at(i).value, condition.series != nil || yes.at(i).present}
		case len(arguments) == 3:
			out[i] = no.at(i)
		}
	}
	return value{series: out}, nil
}

// differences combines each value less the one before it with the seconds
// between the two.
func differences(f func(d, seconds float64) float64) func(*evaluation, []node) (value, error) {
	return func(e *evaluation, arguments []node) (value, error) {
		in, err := e.series(arguments[0], "it")
		out := make(series, len(in))
		seconds, last := e.watched.definition.period().Seconds(), -1
		for i := range in {
			if !in[i].present {
				continue
			}
			if last >= 0 {
				out[i] = finite(f(in[i].value-in[last].value, float64(i-last)*seconds))
			}
			last = i
		}
		return value{series: out}, err
	}
}

// each applies a function to each value.
func each(f func(x float64) float64) func(*evaluation, []node) (value, error) {
	return func(e *evaluation, arguments []node) (value, error) {
		in, err := e.series(arguments[0], "it")
		out := make(series, len(in))
		for i := range in {
			if in[i].present {
				out[i] = finite(f(in[i].value))
			}
		}
		return value{series: out}, err
	}
}

// period gives the seconds of a metric's period.
func period(e *evaluation, arguments []node) (value, error) {
	if id, ok := arguments[0].(reference); ok {
		for _, q := range e.watched.definition.Queries {
			if q.ID == string(id) && q.Expression == "" {
				return value{number: float64(q.Period / time.Second)}, nil
			}
		}
	}
	return value{}, errors.New("it takes the Id of a metric")
}

// across combines the values that several series have for a period.
func across(f func(x, y float64) float64) func(*evaluation, []node) (value, error) {
	return func(e *evaluation, arguments []node) (value, error) {
		all, err := e.list(arguments[0])
		return value{series: e.combine(all, f)}, err
	}
}

func (e *evaluation) combine(all []series, f func(x, y float64) float64) series {
	out := make(series, e.length)
	for _, s := range all {
		for i := range out {
			switch {
			case !s[i].present:
			case out[i].present:
				out[i] = finite(f(out[i].value, s[i].value))
			default:
				out[i] = s[i]
			}
		}
	}
	return out
}

// average is a sum, with missing values as 0, by the number of series.
func average(e *evaluation, arguments []node) (value, error) {
	all, err := e.list(arguments[0])
	sum := e.combine(all, func(x, y float64) float64 { return x + y })
	for i := range sum {
		sum[i].value /= float64(len(all))
	}
	return value{series: sum}, err
}

// list evaluates what has to be a list. Over a single series these functions
// give a number that depends on how far back an evaluation happens to look.
func (e *evaluation) list(n node) ([]series, error) {
	v, err := n.evaluate(e)
	switch {
	case err != nil:
		return nil, err
	case v.series != nil:
		return nil, unsupported("a single series, which AWS advises against in alarms,")
	case len(v.list) == 0:
		return nil, errors.New("it needs a list of series, as in [m1, m2]")
	}
	return v.list, nil
}
