package cloudwatch

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// series are numbers by time, in seconds since 1970.
type series map[int64]float64

func (s series) times() []int64 { return slices.Sorted(maps.Keys(s)) }

func timestamp(at int64) protocol.Timestamp { return protocol.Timestamp{Time: time.Unix(at, 0)} }

// value is what an expression gives: a number, or a series with a period.
type value struct {
	number float64
	series series // nil: a number
	period int64
}

// evaluation computes the queries of one request.
type evaluation struct {
	service     *Service
	queries     []dataQuery
	expressions map[string]node
	start, end  time.Time
	results     map[string]*value // nil: under way
}

// query computes the query of an id.
func (e *evaluation) query(id string) (value, error) {
	i := slices.IndexFunc(e.queries, func(q dataQuery) bool { return q.ID == id })
	if i < 0 {
		return value{}, invalid("An expression names %s, which is the Id of no query.", id)
	}
	if m := e.queries[i].MetricStat; m != nil {
		return e.metric(m)
	}
	if v, ok := e.results[id]; ok {
		if v == nil {
			return value{}, invalid("The expression of %s depends on itself.", id)
		}
		return *v, nil
	}
	e.results[id] = nil
	v, err := e.expressions[id].evaluate(e)
	if err == nil {
		e.results[id] = &v
	}
	return v, err
}

func (e *evaluation) metric(m *metricStat) (value, error) {
	v := value{series: series{}, period: m.Period}
	f, err := findStatistic("GetMetricData", m.Stat)
	if err != nil {
		return v, err
	}
	if found := e.service.metrics[m.Metric.key()]; found != nil {
		for at, d := range found.within(newWindow(e.start, e.end, m.Period), m.Unit) {
			if n, ok := f(d); ok {
				v.series[at] = n
			}
		}
	}
	return v, nil
}

func (n number) evaluate(*evaluation) (value, error) { return value{number: float64(n)}, nil }

func (r reference) evaluate(e *evaluation) (value, error) { return e.query(string(r)) }

// evaluate computes with numbers, with the numbers of a series, or with those
// of two series that have the same time. Results that are no number are left out.
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
	case left.series == nil && right.series == nil:
		return value{number: f(left.number, right.number)}, nil
	case left.series != nil && right.series != nil && left.period != right.period:
		return left, invalid("The metrics of an expression have the periods %d and %d, where they must be the same.",
			left.period, right.period)
	}
	out := value{series: series{}, period: max(left.period, right.period)}
	times := left.series
	if times == nil {
		times = right.series
	}
	for at := range times {
		x, ok := left.at(at)
		y, also := right.at(at)
		if z := f(x, y); ok && also && !math.IsNaN(z) && !math.IsInf(z, 0) {
			out.series[at] = z
		}
	}
	return out, nil
}

func (v value) at(at int64) (float64, bool) {
	if v.series == nil {
		return v.number, true
	}
	x, ok := v.series[at]
	return x, ok
}

// evaluate is DIFF: each number less the one before it.
func (d diff) evaluate(e *evaluation) (value, error) {
	v, err := d.of.evaluate(e)
	if err != nil {
		return v, err
	}
	if v.series == nil {
		return v, invalid("DIFF needs a time series.")
	}
	out := value{series: series{}, period: v.period}
	times := v.series.times()
	for i := 1; i < len(times); i++ {
		out.series[times[i]] = v.series[times[i]] - v.series[times[i-1]]
	}
	return out, nil
}

// evaluate is FILL: a number for each period that has none.
func (f fill) evaluate(e *evaluation) (value, error) {
	v, err := f.of.evaluate(e)
	if err != nil {
		return v, err
	}
	with, err := f.with.evaluate(e)
	switch {
	case err != nil:
		return with, err
	case v.series == nil:
		return v, invalid("FILL needs a time series.")
	case with.series != nil:
		return v, unimplemented("GetMetricData", map[string]bool{"FILL with a time series": true})
	}
	out := value{series: maps.Clone(v.series), period: v.period}
	w := newWindow(e.start, e.end, v.period)
	if (w.end-w.start)/w.period > maxDatapoints {
		return v, invalid("FILL would give more than %d datapoints.", maxDatapoints)
	}
	for _, at := range w.periods() {
		if _, ok := out.series[at]; !ok {
			out.series[at] = with.number
		}
	}
	return out, nil
}
