package cloudwatch

import (
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/metricmath"
)

const maxQueries = 500 // of a request, as AWS sets it

// dataQuery is a metric or an expression of a request, or of an alarm.
type dataQuery struct {
	ID         string      `json:"Id"`
	MetricStat *metricStat `json:",omitempty"`
	Expression string      `json:",omitempty"`
	Label      string      `json:",omitempty"`
	Period     *int64      `json:",omitempty"` // of an expression
	ReturnData *bool       `json:",omitempty"`
	AccountID  string      `json:"AccountId,omitempty"`
}

type metricStat struct {
	Metric metricID
	Period int64
	Stat   string
	Unit   string `json:",omitempty"`
}

func (q dataQuery) returned() bool { return q.ReturnData == nil || *q.ReturnData }

// checkQueries refuses queries that cannot be computed, and gives the parsed
// expressions by id.
func checkQueries(operation string, queries []dataQuery) (map[string]metricmath.Expression, error) {
	expressions := map[string]metricmath.Expression{}
	seen := map[string]bool{}
	for _, q := range queries {
		switch {
		case !metricmath.IsID(q.ID):
			return nil, invalid("The value %q for a query's Id is invalid: "+
				"it begins with a lowercase letter and has letters, digits and underscores.", q.ID)
		case seen[q.ID]:
			return nil, invalid("The Id %s occurs twice.", q.ID)
		case (q.MetricStat == nil) == (q.Expression == ""):
			return nil, invalid("The query %s must have either MetricStat or Expression.", q.ID)
		case q.AccountID != "":
			return nil, unimplemented(operation, map[string]bool{"AccountId": true})
		}
		seen[q.ID] = true
		if q.MetricStat != nil {
			if err := q.MetricStat.check(operation, q.ID); err != nil {
				return nil, err
			}
			continue
		}
		parsed, err := parse(operation, q.Expression)
		if err != nil {
			return nil, err
		}
		expressions[q.ID] = parsed
	}
	return expressions, nil
}

func (m *metricStat) check(operation, id string) error {
	if err := checkNamespace(m.Metric.Namespace); err != nil {
		return err
	}
	if err := checkMetric(id+".Metric.", m.Metric.MetricName, m.Metric.Dimensions); err != nil {
		return err
	}
	if err := checkPeriod(m.Period); err != nil {
		return err
	}
	if m.Unit != "" && !slices.Contains(units, m.Unit) {
		return invalid("The parameter %s.Unit must be a value in the set %v.", id, units)
	}
	_, err := findStatistic(operation, m.Stat)
	return err
}

// checkPeriod refuses periods that data cannot have.
func checkPeriod(seconds int64) error {
	if seconds > 0 && (seconds%60 == 0 || slices.Contains([]int64{1, 5, 10, 20, 30}, seconds)) {
		return nil
	}
	return invalid("The value %d for Period is invalid: it can be 1, 5, 10, 20, 30 or a multiple of 60.", seconds)
}

type getDataInput struct {
	MetricDataQueries  []dataQuery
	StartTime, EndTime *protocol.Timestamp
	ScanBy             string
	MaxDatapoints      *int
	NextToken          string
	LabelOptions       *struct{ Timezone string }
}

type getDataOutput struct{ MetricDataResults []dataResult }

type dataResult struct {
	ID         string `json:"Id"`
	Label      string
	StatusCode string
	Timestamps []protocol.Timestamp
	Values     []float64
}

func (s *Service) getMetricData(in getDataInput) (*getDataOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	e, err := newEvaluation("GetMetricData", in.MetricDataQueries)
	if err != nil {
		return nil, err
	}
	e.metrics, e.start, e.end = s.metrics, in.StartTime.Time, in.EndTime.Time
	out := &getDataOutput{MetricDataResults: []dataResult{}}
	total := 0
	for _, q := range in.MetricDataQueries {
		series, err := e.series(q)
		if err != nil {
			return nil, err
		}
		if q.returned() {
			total += len(series.Points)
			out.MetricDataResults = append(out.MetricDataResults, q.result(series, in.ScanBy == "TimestampAscending"))
		}
	}
	if total > metricmath.MaxDatapoints {
		return nil, unimplemented("GetMetricData", map[string]bool{"pages of more than 100800 datapoints": true})
	}
	return out, nil
}

func (in getDataInput) check() error {
	switch n := len(in.MetricDataQueries); {
	case n == 0:
		return missing("MetricDataQueries")
	case n > maxQueries:
		return invalid("The collection MetricDataQueries must not have a size greater than %d.", maxQueries)
	}
	if err := checkRange(in.StartTime, in.EndTime); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "TimestampAscending", "TimestampDescending"}, in.ScanBy) {
		return invalid("The value %s for parameter ScanBy is invalid.", in.ScanBy)
	}
	return unimplemented("GetMetricData", map[string]bool{
		"LabelOptions": in.LabelOptions != nil, "MaxDatapoints": in.MaxDatapoints != nil, "NextToken": in.NextToken != "",
	})
}

func checkRange(start, end *protocol.Timestamp) error {
	switch {
	case start == nil:
		return missing("StartTime")
	case end == nil:
		return missing("EndTime")
	case !start.Before(end.Time):
		return invalid("The parameter StartTime must be less than the parameter EndTime.")
	}
	return nil
}

func (q dataQuery) result(series *metricmath.Series, ascending bool) dataResult {
	label := q.Label
	switch {
	case label != "":
	case q.MetricStat != nil:
		label = q.MetricStat.Metric.MetricName
	default:
		label = q.ID
	}
	r := dataResult{ID: q.ID, Label: label, StatusCode: "Complete"}
	for _, p := range series.Points {
		r.Timestamps = append(r.Timestamps, timestamp(p.At))
		r.Values = append(r.Values, p.Value)
	}
	if !ascending {
		slices.Reverse(r.Timestamps)
		slices.Reverse(r.Values)
	}
	return r
}
