package alarm

import (
	"slices"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// verdict is what an evaluation comes to.
type verdict struct {
	// state is empty where the alarm keeps the one it has.
	state State
	// breaching of the judged datapoints do breach; filled of them were missing.
	breaching, judged, filled int
}

// judge applies the rule of M out of N to the samples of an evaluation range: the
// latest N that are there count, and missing ones only where there are fewer.
func (d *Definition) judge(samples *metricmath.Series) verdict {
	breaches := comparisons[d.ComparisonOperator]
	var v verdict
	oldest := 0 // of the breaching ones, in periods from the end
	for _, p := range slices.Backward(samples.Points) {
		if v.judged == d.EvaluationPeriods {
			break
		}
		v.judged++
		if breaches(p.Value, d.Threshold) {
			v.breaching++
			oldest = int((samples.Grid.End() - p.At) / samples.Grid.Period)
		}
	}
	v.filled = d.EvaluationPeriods - v.judged
	v.state = d.decide(v, oldest)
	return v
}

// decide has the table of the user guide's "How alarm state is evaluated when
// data is missing". Where the datapoints that there are all breach, but are too
// few, the guide lets a recent one wait for the next and an old one alarm.
func (d *Definition) decide(v verdict, oldest int) State {
	treatment := d.treatment()
	enough := v.breaching >= d.toAlarm()
	undecided := v.filled > 0 && v.breaching == v.judged && !enough
	switch {
	case v.filled > 0 && treatment == treatBreaching:
		enough = v.breaching+v.filled >= d.toAlarm()
	case treatment == treatNotBreaching:
	case v.judged == 0 && treatment == treatMissing:
		return InsufficientData
	case undecided && treatment == treatMissing && oldest >= d.toAlarm():
		return Alarm
	case undecided:
		return ""
	}
	if enough {
		return Alarm
	}
	return OK
}
