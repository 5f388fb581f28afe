package cloudwatch

import (
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Limits of GetMetricStatistics, as AWS sets them.
const (
	maxStatistics         = 5
	maxExtendedStatistics = 10
	maxStatisticPoints    = 1440
)

type getStatisticsInput struct {
	metricID
	StartTime, EndTime *protocol.Timestamp
	Period             *int64
	Statistics         []string
	ExtendedStatistics []string
	Unit               string
}

type getStatisticsOutput struct {
	Label      string
	Datapoints []datapoint
}

type datapoint struct {
	Timestamp          protocol.Timestamp
	SampleCount        *float64           `json:",omitempty"`
	Sum                *float64           `json:",omitempty"`
	Average            *float64           `json:",omitempty"`
	Minimum            *float64           `json:",omitempty"`
	Maximum            *float64           `json:",omitempty"`
	ExtendedStatistics map[string]float64 `json:",omitempty"`
	Unit               string
}

// getMetricStatistics gives a datapoint for each period and unit that has data.
func (s *Service) getMetricStatistics(in getStatisticsInput) (*getStatisticsOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	w := newWindow(in.StartTime.Time, in.EndTime.Time, *in.Period)
	if n := w.count(); n > maxStatisticPoints {
		return nil, combination("You have requested up to %d datapoints, which exceeds the limit of %d. "+
			"You may reduce the datapoints requested by increasing Period, or decreasing the time range.",
			n, maxStatisticPoints)
	}
	out := &getStatisticsOutput{Label: in.MetricName, Datapoints: []datapoint{}}
	m := s.metrics[in.key()]
	if m == nil {
		return out, nil
	}
	for _, unit := range m.units() {
		if in.Unit != "" && in.Unit != unit {
			continue
		}
		found := m.within(w, unit)
		for _, at := range slices.Sorted(maps.Keys(found)) {
			out.Datapoints = append(out.Datapoints, in.datapoint(at, unit, found[at]))
		}
	}
	return out, nil
}

func (in getStatisticsInput) check() error {
	err := checkNamespace(in.Namespace)
	if err == nil {
		err = checkMetric("", in.MetricName, in.Dimensions)
	}
	if err == nil {
		err = checkRange(in.StartTime, in.EndTime)
	}
	if err != nil {
		return err
	}
	switch {
	case in.Period == nil:
		return missing("Period")
	case len(in.Statistics)+len(in.ExtendedStatistics) == 0:
		return missing("Statistics")
	case len(in.Statistics) > maxStatistics || len(in.ExtendedStatistics) > maxExtendedStatistics:
		return invalid("There can be %d Statistics and %d ExtendedStatistics.", maxStatistics, maxExtendedStatistics)
	case in.Unit != "" && !slices.Contains(units, in.Unit):
		return invalid("The parameter Unit must be a value in the set %v.", units)
	}
	for _, name := range in.Statistics {
		if statistics[name] == nil {
			return invalid("The value %s for parameter Statistics is invalid.", name)
		}
	}
	for _, name := range in.ExtendedStatistics {
		if _, err := extended("GetMetricStatistics", name); err != nil {
			return err
		}
	}
	return checkPeriod(*in.Period)
}

func (in getStatisticsInput) datapoint(at int64, unit string, d *distribution) datapoint {
	p := datapoint{Timestamp: timestamp(at), Unit: unit}
	for name, field := range map[string]**float64{
		"SampleCount": &p.SampleCount, "Sum": &p.Sum, "Average": &p.Average, "Minimum": &p.Minimum, "Maximum": &p.Maximum,
	} {
		if slices.Contains(in.Statistics, name) {
			n, _ := statistics[name](d)
			*field = &n
		}
	}
	for _, name := range in.ExtendedStatistics {
		// The name was checked.
		f, _ := extended("GetMetricStatistics", name)
		if n, ok := f(d); ok {
			if p.ExtendedStatistics == nil {
				p.ExtendedStatistics = map[string]float64{}
			}
			p.ExtendedStatistics[name] = n
		}
	}
	return p
}
