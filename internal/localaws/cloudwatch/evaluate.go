package cloudwatch

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// evaluation computes the queries of one request.
type evaluation struct {
	operation  string // for the words of a refusal
	metrics    map[string]*metric
	queries    []dataQuery
	start, end time.Time
	math       metricmath.Evaluation
}

// newEvaluation checks the queries and parses their expressions.
func newEvaluation(operation string, queries []dataQuery) (*evaluation, error) {
	expressions, err := checkQueries(operation, queries)
	e := &evaluation{operation: operation, queries: queries}
	e.math = metricmath.Evaluation{Expressions: expressions, Metric: e.metric}
	return e, err
}

// series computes a query, which has to give one series.
func (e *evaluation) series(q dataQuery) (*metricmath.Series, error) {
	v, err := e.math.Query(q.ID)
	switch {
	case err != nil:
		return nil, refuseMath(e.operation, "query "+q.ID, err)
	case v.List != nil:
		return nil, unimplemented(e.operation, map[string]bool{"a list of series as a result": true})
	case v.Series == nil:
		return nil, invalid("The expression %s gives a number, where a time series is needed.", q.Expression)
	}
	return v.Series, nil
}

// metric reads the metric of a query.
func (e *evaluation) metric(id string) (*metricmath.Series, bool) {
	i := slices.IndexFunc(e.queries, func(q dataQuery) bool { return q.ID == id })
	if i < 0 {
		return nil, false
	}
	m := e.queries[i].MetricStat
	w := newWindow(e.start, e.end, m.Period)
	out := &metricmath.Series{Grid: w.grid()}
	known := e.metrics[m.Metric.key()]
	if known == nil {
		return out, true
	}
	// The name of the statistic was checked.
	compute, _ := findStatistic(e.operation, m.Stat)
	found := known.within(w, m.Unit)
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if value, ok := compute(found[at]); ok {
			out.Add(at, value)
		}
	}
	return out, true
}

// refuseMath says of which part of a request the error of metric math is.
func refuseMath(operation, where string, err error) error {
	if u, ok := errors.AsType[*metricmath.UnsupportedError](err); ok {
		return unimplemented(operation, map[string]bool{u.What + " in the " + where: true})
	}
	return invalid("Error in %s: %v.", where, err)
}

// parse parses the expression of a query.
func parse(operation, text string) (metricmath.Expression, error) {
	parsed, err := metricmath.Parse(text)
	if err != nil {
		err = refuseMath(operation, "expression "+strconv.Quote(text), err)
	}
	return parsed, err
}

func timestamp(at int64) protocol.Timestamp { return protocol.Timestamp{Time: time.Unix(at, 0)} }
