package cloudwatch

import "slices"

// Limits of an alarm, as AWS sets them.
const (
	maxAlarmMetrics = 10
	maxActions      = 5
	day             = 24 * 60 * 60 // seconds
	hour            = 60 * 60
)

var (
	comparisons = []string{
		"GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold",
	}
	bands = []string{
		"LessThanLowerOrGreaterThanUpperThreshold", "LessThanLowerThreshold", "GreaterThanUpperThreshold",
	}
	missingData = []string{"", "breaching", "notBreaching", "ignore", "missing"}
)

// check refuses an alarm that could not be evaluated.
func (d definition) check() error {
	switch {
	case d.AlarmName == "":
		return missing("AlarmName")
	case len(d.AlarmName) > maxName:
		return invalid("The value for parameter AlarmName is longer than %d characters.", maxName)
	case slices.Contains(bands, d.ComparisonOperator):
		return unimplemented("PutMetricAlarm", map[string]bool{"ComparisonOperator " + d.ComparisonOperator: true})
	case !slices.Contains(comparisons, d.ComparisonOperator):
		return invalid("The value %q for parameter ComparisonOperator is invalid: it can be one of %v.",
			d.ComparisonOperator, comparisons)
	case d.Threshold == nil:
		return missing("Threshold")
	case d.EvaluationPeriods == nil || *d.EvaluationPeriods < 1:
		return invalid("The parameter EvaluationPeriods must be an integer of at least 1.")
	case d.DatapointsToAlarm != nil && (*d.DatapointsToAlarm < 1 || *d.DatapointsToAlarm > *d.EvaluationPeriods):
		return invalid("The parameter DatapointsToAlarm must be from 1 to EvaluationPeriods.")
	case !slices.Contains(missingData, d.TreatMissingData):
		return invalid("Option %s is not supported for TreatMissingData parameter.", d.TreatMissingData)
	case max(len(d.OKActions), len(d.AlarmActions), len(d.InsufficientDataActions)) > maxActions:
		return invalid("An alarm can have %d actions for a state.", maxActions)
	case d.MetricName == "" && len(d.Metrics) == 0:
		return missing("MetricName or Metrics")
	case d.MetricName != "" && len(d.Metrics) > 0:
		return combination("The parameters MetricName and Metrics are mutually exclusive.")
	case d.MetricName != "":
		return d.checkSingle()
	}
	return d.checkMetrics()
}

// checkSingle is for an alarm on one metric.
func (d definition) checkSingle() error {
	name := d.Statistic
	switch {
	case d.Period == nil:
		return missing("Period")
	case (d.Statistic == "") == (d.ExtendedStatistic == ""):
		return combination("An alarm must have either Statistic or ExtendedStatistic.")
	case d.Statistic == "":
		name = d.ExtendedStatistic
	case statistics[d.Statistic] == nil:
		return invalid("The value %s for parameter Statistic is invalid.", d.Statistic)
	}
	q := metricStat{metricID{d.Namespace, d.MetricName, d.Dimensions}, *d.Period, name, d.Unit}
	if err := q.check("PutMetricAlarm", "alarm"); err != nil {
		return err
	}
	return d.checkTime(*d.Period)
}

// checkMetrics is for an alarm on an expression.
func (d definition) checkMetrics() error {
	if d.Namespace != "" || d.Statistic != "" || d.ExtendedStatistic != "" || d.Period != nil ||
		len(d.Dimensions) > 0 || d.Unit != "" {
		return combination("With Metrics an alarm has no Namespace, Dimensions, Statistic, Period or Unit of its own.")
	}
	e, err := newEvaluation("PutMetricAlarm", d.Metrics)
	if err != nil {
		return err
	}
	returned, metrics, period := 0, 0, int64(0)
	for _, q := range d.Metrics {
		if q.returned() {
			returned++
		}
		if q.MetricStat == nil {
			continue
		}
		metrics++
		if period != 0 && period != q.MetricStat.Period {
			return invalid("The metrics of an alarm must have the same period.")
		}
		period = q.MetricStat.Period
	}
	switch {
	case returned != 1:
		return invalid("Exactly one element of the metrics list should return data, not %d.", returned)
	case metrics < 1 || metrics > maxAlarmMetrics:
		return invalid("An alarm must have from 1 to %d metrics, not %d.", maxAlarmMetrics, metrics)
	}
	// An evaluation over no time finds ids that are not there and expressions that
	// depend on themselves.
	for _, q := range d.Metrics {
		if _, err := e.series(q); err != nil {
			return err
		}
	}
	return d.checkTime(period)
}

// checkTime bounds what an alarm looks back to.
func (d definition) checkTime(period int64) error {
	limit := int64(day)
	if period >= hour {
		limit *= 7
	}
	if *d.EvaluationPeriods > limit/period {
		return invalid("Metrics cannot be checked across more than a day, or a week for periods of an hour and more "+
			"(EvaluationPeriods * Period must be <= %d).", limit)
	}
	return nil
}
