package alarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// Limits of an alarm, as AWS sets them.
const (
	maxMetrics = 10
	maxWindow  = 24 * time.Hour // beyond, alarms are evaluated by the hour
)

const dynamoDB = "AWS/DynamoDB"

var comparisons = map[string]func(value, threshold float64) bool{
	"GreaterThanThreshold":          func(v, t float64) bool { return v > t },
	"GreaterThanOrEqualToThreshold": func(v, t float64) bool { return v >= t },
	"LessThanThreshold":             func(v, t float64) bool { return v < t },
	"LessThanOrEqualToThreshold":    func(v, t float64) bool { return v <= t },
}

// bands are the comparisons of anomaly detection.
var bands = []string{"LessThanLowerOrGreaterThanUpperThreshold", "LessThanLowerThreshold", "GreaterThanUpperThreshold"}

// What stands in for a missing datapoint.
const (
	treatMissing      = "missing"
	treatIgnore       = "ignore"
	treatBreaching    = "breaching"
	treatNotBreaching = "notBreaching"
)

var treatments = []string{treatMissing, treatIgnore, treatBreaching, treatNotBreaching}

// An UnsupportedError names something that CloudWatch has and this package
// does not.
type UnsupportedError = metricmath.UnsupportedError

func unsupported(format string, args ...any) error {
	return &UnsupportedError{What: fmt.Sprintf(format, args...)}
}

// check refuses an alarm that CloudWatch would refuse or that cannot be
// evaluated here.
func (d *Definition) check() error {
	switch {
	case d.Name == "":
		return errors.New("it has no name: give it one")
	case len(d.Other) > 0:
		return unsupported("the property %s", d.Other[0])
	case slices.Contains(bands, d.ComparisonOperator):
		return unsupported("ComparisonOperator %s, which needs an anomaly band,", d.ComparisonOperator)
	case comparisons[d.ComparisonOperator] == nil:
		return fmt.Errorf("ComparisonOperator %q: write GreaterThanThreshold, GreaterThanOrEqualToThreshold, "+
			"LessThanThreshold or LessThanOrEqualToThreshold", d.ComparisonOperator)
	case d.EvaluationPeriods < 1:
		return fmt.Errorf("EvaluationPeriods %d: at least 1 is needed", d.EvaluationPeriods)
	case d.DatapointsToAlarm < 0 || d.DatapointsToAlarm > d.EvaluationPeriods:
		return fmt.Errorf("DatapointsToAlarm %d: from 1 to the %d of EvaluationPeriods are possible",
			d.DatapointsToAlarm, d.EvaluationPeriods)
	case d.TreatMissingData != "" && !slices.Contains(treatments, d.TreatMissingData):
		return fmt.Errorf("TreatMissingData %q: write one of %s", d.TreatMissingData, strings.Join(treatments, ", "))
	}
	return d.checkQueries()
}

func (d *Definition) checkQueries() error {
	var seen []string
	returned, metrics := 0, 0
	for _, q := range d.Queries {
		if err := q.check(); err != nil {
			return err
		}
		if slices.Contains(seen, q.ID) {
			return fmt.Errorf("two queries have the Id %s: give each its own", q.ID)
		}
		seen = append(seen, q.ID)
		if q.ReturnData {
			returned++
		}
		if q.Expression != "" {
			continue
		}
		metrics++
		if q.Period != d.period() {
			return fmt.Errorf("the query %s has a period of %v and another one %v: all must have the same",
				q.ID, q.Period, d.period())
		}
		if q.Metric.Namespace == dynamoDB && d.TreatMissingData != "" && d.TreatMissingData != treatIgnore {
			return unsupported("TreatMissingData %s for metrics of %s, which AWS documents in two ways,",
				d.TreatMissingData, dynamoDB)
		}
	}
	switch {
	case returned != 1:
		return fmt.Errorf("%d queries have ReturnData: exactly one is compared with the threshold", returned)
	case metrics == 0 || metrics > maxMetrics:
		return fmt.Errorf("%d metrics: from 1 to %d are possible", metrics, maxMetrics)
	case d.EvaluationPeriods > int(maxWindow/d.period()):
		return unsupported("a window of more than %v (EvaluationPeriods * Period)", maxWindow)
	}
	return nil
}

func (q *Query) check() error {
	switch {
	case !metricmath.IsID(q.ID):
		return fmt.Errorf("the Id %q of a query: it begins with a lowercase letter and has letters, digits and _", q.ID)
	case q.Expression != "" && q.Metric.Name != "":
		return fmt.Errorf("the query %s has both an expression and a metric: leave one", q.ID)
	case q.Expression != "":
		return nil
	case q.Metric.Name == "" || q.Metric.Namespace == "":
		return fmt.Errorf("the query %s has no expression and no metric with a namespace: give it one", q.ID)
	case statistics[q.Statistic] == nil:
		return unsupported("the statistic %q of the query %s", q.Statistic, q.ID)
	case q.Period < time.Minute || q.Period%time.Minute != 0:
		return unsupported("the period %v of the query %s, no whole number of minutes,", q.Period, q.ID)
	case q.Period > maxWindow:
		return unsupported("the period %v of the query %s", q.Period, q.ID)
	}
	return nil
}

// period is that of the alarm's metrics, once they are checked.
func (d *Definition) period() time.Duration {
	for _, q := range d.Queries {
		if q.Expression == "" {
			return q.Period
		}
	}
	return 0
}

// treatment is what stands in for missing datapoints.
func (d *Definition) treatment() string {
	if d.TreatMissingData != "" {
		return d.TreatMissingData
	}
	for _, q := range d.Queries {
		if q.Metric.Namespace == dynamoDB {
			return treatIgnore
		}
	}
	return treatMissing
}
