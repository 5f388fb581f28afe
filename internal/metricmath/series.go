package metricmath

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MaxDatapoints is how many datapoints a function may add to a series. It is the
// limit that the API reference of GetMetricData gives for one response.
const MaxDatapoints = 100_800

// Grid is the sequence of periods that an evaluation covers.
type Grid struct {
	// Start is the beginning of the first period, in seconds since 1970.
	Start int64
	// Period is the length of a period in seconds, at least 1.
	Period int64
	// Count is the number of periods; none if it is 0 or less.
	Count int64
}

// End returns the end of the last period, in seconds since 1970.
func (g Grid) End() int64 { return g.Start + max(g.Count, 0)*g.Period }

// fill returns a series with the value that f gives for the beginning of each
// period, if it gives one.
func (g Grid) fill(f func(at int64) (value float64, ok bool)) (Value, error) {
	if g.Count > MaxDatapoints {
		return Value{}, fmt.Errorf("it would give more than %d datapoints: ask for fewer periods", MaxDatapoints)
	}
	out := &Series{Grid: g}
	for at := g.Start; at < g.End(); at += g.Period {
		if value, ok := f(at); ok {
			out.Add(at, value)
		}
	}
	return Value{Series: out}, nil
}

// Point is one value of a series.
type Point struct {
	// At is the beginning of the period, in seconds since 1970.
	At    int64
	Value float64
}

// Series is a time series: at most one value for each period of its grid.
type Series struct {
	Grid Grid
	// Points are the values that there are, in the order of time. All are finite.
	Points []Point
}

// Add appends a value for the period that begins at the given time, which must be
// later than those before. A value that is no finite number is left out.
func (s *Series) Add(at int64, value float64) {
	if finite(value) {
		s.Points = append(s.Points, Point{at, value})
	}
}

// Last returns the value of the last period of the grid, if there is one.
func (s *Series) Last() (value float64, ok bool) { return s.at(s.Grid.End() - s.Grid.Period) }

func (s *Series) at(at int64) (value float64, ok bool) {
	i, ok := slices.BinarySearchFunc(s.Points, at, func(p Point, at int64) int { return cmp.Compare(p.At, at) })
	if !ok {
		return 0, false
	}
	return s.Points[i].Value, true
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// Value is the result of a query: a list of series, a series, or a number if the
// other two are nil.
type Value struct {
	Number float64
	Series *Series
	List   []*Series
}

// at returns the value in a period; 0 where there is none. A number is the same in
// all periods.
func (v Value) at(at int64) (value float64, ok bool) {
	switch {
	case v.Series != nil:
		return v.Series.at(at)
	case !finite(v.Number):
		return 0, false
	}
	return v.Number, true
}

// gridOf returns the grid that all of the series have.
func gridOf(all ...*Series) (Grid, error) {
	var grid Grid
	for _, s := range all {
		switch {
		case s == nil:
		case grid.Period == 0:
			grid = s.Grid
		case grid.Period != s.Grid.Period:
			return Grid{}, fmt.Errorf("it combines series of the periods %d and %d: all must have the same",
				grid.Period, s.Grid.Period)
		}
	}
	return grid, nil
}

// times returns the periods in which at least one of the series has a value, in
// order.
func times(all ...*Series) []int64 {
	var found []int64
	for _, s := range all {
		if s == nil {
			continue
		}
		for _, p := range s.Points {
			found = append(found, p.At)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
