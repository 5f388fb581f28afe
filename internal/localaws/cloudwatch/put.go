package cloudwatch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Limits of metric data, as AWS sets them.
const (
	maxData       = 1000 // of a request
	maxValues     = 150  // of a datum
	maxDimensions = 30
	maxName       = 255
	maxValue      = 1024 // of a dimension
	oldest        = 14 * 24 * time.Hour
	latest        = 2 * time.Hour
)

// largest is the greatest number that AWS takes, 2 to the power of 360.
var largest = math.Ldexp(1, 360)

// units are those that AWS knows.
var units = strings.Fields(`Seconds Microseconds Milliseconds Bytes Kilobytes Megabytes Gigabytes Terabytes
	Bits Kilobits Megabits Gigabits Terabits Percent Count Bytes/Second Kilobytes/Second Megabytes/Second
	Gigabytes/Second Terabytes/Second Bits/Second Kilobits/Second Megabits/Second Gigabits/Second Terabits/Second
	Count/Second None`)

type putDataInput struct {
	Namespace              string
	MetricData             []datum
	EntityMetricData       []any
	StrictEntityValidation *bool
}

type datum struct {
	MetricName        string
	Dimensions        []dimension
	Timestamp         *protocol.Timestamp
	Value             *protocol.Double
	Values, Counts    []protocol.Double
	StatisticValues   *statisticSet
	Unit              string
	StorageResolution *int
}

type statisticSet struct{ SampleCount, Sum, Minimum, Maximum *protocol.Double }

// putMetricData adds data to metrics, all or none, and at once, where AWS takes
// up to 15 minutes to list a new metric.
func (s *Service) putMetricData(in putDataInput) (empty, error) {
	err := unimplemented("PutMetricData", map[string]bool{
		"EntityMetricData":       len(in.EntityMetricData) > 0,
		"StrictEntityValidation": in.StrictEntityValidation != nil && *in.StrictEntityValidation,
	})
	if err == nil {
		err = checkNamespace(in.Namespace)
	}
	if err != nil {
		return empty{}, err
	}
	switch n := len(in.MetricData); {
	case n == 0:
		return empty{}, missing("MetricData")
	case n > maxData:
		return empty{}, invalid("The collection MetricData must not have a size greater than %d.", maxData)
	case strings.HasPrefix(in.Namespace, "AWS/"):
		return empty{}, invalid("The value AWS/ for parameter Namespace is invalid.")
	}
	now := s.clock.Now()
	var samples []*sample
	for i, d := range in.MetricData {
		x, err := d.sample(fmt.Sprintf("MetricData.member.%d.", i+1), now)
		if err != nil {
			return empty{}, err
		}
		samples = append(samples, x)
	}
	for i, d := range in.MetricData {
		id := metricID{in.Namespace, d.MetricName, append([]dimension{}, d.Dimensions...)}
		m := s.metrics[id.key()]
		if m == nil {
			m = &metric{id: id}
			s.metrics[id.key()] = m
		}
		m.add(samples[i])
		m.forget(now.Add(-oldest))
	}
	return empty{}, nil
}

func checkNamespace(name string) error {
	switch {
	case name == "":
		return missing("Namespace")
	case len(name) > maxName || name[0] == ':':
		return invalid("The value %s for parameter Namespace is invalid.", name)
	}
	return nil
}

// sample checks a datum and gives what is to be stored of it. The path names
// the datum in the request.
func (d datum) sample(path string, now time.Time) (*sample, error) {
	if err := checkMetric(path, d.MetricName, d.Dimensions); err != nil {
		return nil, err
	}
	x := &sample{at: now.Unix(), unit: d.Unit}
	if d.Timestamp != nil {
		at := d.Timestamp.Time
		if at.Before(now.Add(-oldest)) || at.After(now.Add(latest)) {
			return nil, invalid("The parameter %sTimestamp must specify a time within the past two weeks "+
				"and no more than two hours in the future.", path)
		}
		x.at = at.Unix()
	}
	switch {
	case d.Unit == "":
		x.unit = "None"
	case !slices.Contains(units, d.Unit):
		return nil, invalid("The parameter %sUnit must be a value in the set %v.", path, units)
	}
	switch r := d.StorageResolution; {
	case r == nil || *r == 60:
		x.at -= x.at % 60
	case *r != 1:
		return nil, invalid("The parameter %sStorageResolution must be 1 or 60.", path)
	}
	var err error
	x.distribution, err = d.distribution(path)
	return x, err
}

func checkMetric(path, name string, dimensions []dimension) error {
	switch {
	case name == "":
		return missing(path + "MetricName")
	case len(name) > maxName:
		return invalid("The value for parameter %sMetricName is longer than %d characters.", path, maxName)
	case len(dimensions) > maxDimensions:
		return invalid("The collection %sDimensions must not have a size greater than %d.", path, maxDimensions)
	}
	seen := map[string]bool{}
	for i, d := range dimensions {
		at := fmt.Sprintf("%sDimensions.member.%d.", path, i+1)
		switch {
		case d.Name == "":
			return missing(at + "Name")
		case d.Value == "":
			return missing(at + "Value")
		case len(d.Name) > maxName || len(d.Value) > maxValue || d.Name[0] == ':':
			return invalid("The parameter %sName or its value is invalid.", at)
		case seen[d.Name]:
			return invalid("The parameter %sName occurs twice: %s.", at, d.Name)
		}
		seen[d.Name] = true
	}
	return nil
}

// distribution gives the values of a datum, of which there is one kind.
func (d datum) distribution(path string) (distribution, error) {
	out := distribution{values: map[float64]float64{}}
	kinds := 0
	for _, given := range []bool{d.Value != nil, len(d.Values) > 0, d.StatisticValues != nil} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return out, missing(path + "Value")
	case kinds > 1:
		return out, combination("The parameters %[1]sValue, %[1]sValues and %[1]sStatisticValues "+
			"are mutually exclusive and you have specified more than one.", path)
	case d.StatisticValues != nil:
		return d.StatisticValues.distribution(path + "StatisticValues.")
	case d.Value != nil:
		d.Values, d.Counts = []protocol.Double{*d.Value}, nil
		path += "Value"
	default:
		path += "Values"
	}
	if len(d.Values) > maxValues || (len(d.Counts) > 0 && len(d.Counts) != len(d.Values)) {
		return out, invalid("The parameter %s must have %d members at most, and as many as Counts.", path, maxValues)
	}
	for i, value := range d.Values {
		times := protocol.Double(1)
		if len(d.Counts) > 0 {
			times = d.Counts[i]
		}
		if !legal(value) || !legal(times) || times < 0 {
			return out, invalid("The value %v for parameter %s is invalid.", value, path)
		}
		if times > 0 {
			out.add(float64(value), float64(times))
		}
	}
	if out.count == 0 {
		return out, invalid("The parameter %s has no value whose count is positive.", path)
	}
	return out, nil
}

func (set statisticSet) distribution(path string) (distribution, error) {
	for name, v := range map[string]*protocol.Double{
		"SampleCount": set.SampleCount, "Sum": set.Sum, "Minimum": set.Minimum, "Maximum": set.Maximum,
	} {
		switch {
		case v == nil:
			return distribution{}, missing(path + name)
		case !legal(*v):
			return distribution{}, invalid("The value %v for parameter %s is invalid.", *v, path+name)
		}
	}
	d := distribution{
		float64(*set.SampleCount), float64(*set.Sum), float64(*set.Minimum), float64(*set.Maximum), nil,
	}
	if d.count <= 0 || d.min > d.max {
		return d, invalid("The parameters of %s contradict each other.", strings.TrimSuffix(path, "."))
	}
	if d.min == d.max {
		// Where all values are the same, percentiles are known too.
		d.values = map[float64]float64{d.min: d.count}
	}
	return d, nil
}

func legal(v protocol.Double) bool { return math.Abs(float64(v)) <= largest }
