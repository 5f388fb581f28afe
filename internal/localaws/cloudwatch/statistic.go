package cloudwatch

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// distribution is what is known of a number of values.
type distribution struct {
	count, sum, min, max float64
	values               map[float64]float64 // how often each occurs; nil: not known
}

// add adds a value that occurs a number of times.
func (d *distribution) add(value, times float64) {
	d.merge(distribution{times, value * times, value, value, map[float64]float64{value: times}})
}

func (d *distribution) merge(o distribution) {
	if d.count == 0 {
		d.min, d.max = o.min, o.max
	}
	d.count += o.count
	d.sum += o.sum
	d.min, d.max = min(d.min, o.min), max(d.max, o.max)
	if d.values == nil || o.values == nil {
		d.values = nil
		return
	}
	for value, times := range o.values {
		d.values[value] += times
	}
}

// percentile gives the smallest value that p percent of the values do not
// exceed, if the values are known.
func (d *distribution) percentile(p float64) (float64, bool) {
	var below float64
	for _, value := range slices.Sorted(maps.Keys(d.values)) {
		if below += d.values[value]; below >= d.count*p/100 {
			return value, true
		}
	}
	return 0, false
}

// statistic computes one number of a distribution, if it can.
type statistic func(d *distribution) (float64, bool)

var statistics = map[string]statistic{
	"SampleCount": func(d *distribution) (float64, bool) { return d.count, true },
	"Sum":         func(d *distribution) (float64, bool) { return d.sum, true },
	"Average":     func(d *distribution) (float64, bool) { return d.sum / d.count, true },
	"Minimum":     func(d *distribution) (float64, bool) { return d.min, true },
	"Maximum":     func(d *distribution) (float64, bool) { return d.max, true },
}

var (
	percentiles = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,10})?|100)$`)
	// trimmed are the other statistics that AWS has.
	trimmed = regexp.MustCompile(`^(?:(?:tm|wm|ts|tc)[0-9.]+|(?:TM|WM|PR|TC|TS)\(.*\)|IQM)$`)
)

// extended gives a percentile by its name, such as p99.9.
func extended(operation, name string) (statistic, error) {
	if match := percentiles.FindStringSubmatch(name); match != nil {
		p, err := strconv.ParseFloat(match[1], 64)
		return func(d *distribution) (float64, bool) { return d.percentile(p) }, err
	}
	if trimmed.MatchString(name) {
		return nil, unimplemented(operation, map[string]bool{"the statistic " + name: true})
	}
	return nil, invalid("The value %s for the statistic is not valid.", name)
}

// findStatistic gives a statistic of either kind.
func findStatistic(operation, name string) (statistic, error) {
	if f, ok := statistics[name]; ok {
		return f, nil
	}
	return extended(operation, name)
}
