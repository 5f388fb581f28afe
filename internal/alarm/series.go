package alarm

import (
	"maps"
	"time"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// Datapoint is what is known of a metric in the minute that begins at or
// around Time: a number of values.
type Datapoint struct {
	Metric Metric
	// Time is cut down to the minute.
	Time time.Time
	// Count is how many values there were; none means one.
	Count float64
	// Sum, Minimum and Maximum are those of the values.
	Sum, Minimum, Maximum float64
}

// Value is a datapoint of a single value.
func Value(m Metric, at time.Time, value float64) Datapoint {
	return Datapoint{Metric: m, Time: at, Count: 1, Sum: value, Minimum: value, Maximum: value}
}

func (p *Datapoint) merge(o Datapoint) {
	if p.Count == 0 {
		*p = o
		return
	}
	p.Count += o.Count
	p.Sum += o.Sum
	p.Minimum, p.Maximum = min(p.Minimum, o.Minimum), max(p.Maximum, o.Maximum)
}

var statistics = map[string]func(p Datapoint) float64{
	"Maximum":     func(p Datapoint) float64 { return p.Maximum },
	"Minimum":     func(p Datapoint) float64 { return p.Minimum },
	"Sum":         func(p Datapoint) float64 { return p.Sum },
	"Average":     func(p Datapoint) float64 { return p.Sum / p.Count },
	"SampleCount": func(p Datapoint) float64 { return p.Count },
}

// store keeps datapoints by metric and minute.
type store map[string]map[int64]Datapoint

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

func (s store) add(p Datapoint) {
	if p.Count == 0 {
		p.Count = 1
	}
	minutes := s[p.Metric.key()]
	if minutes == nil {
		minutes = map[int64]Datapoint{}
		s[p.Metric.key()] = minutes
	}
	minute := minuteOf(p.Time)
	p.Metric, p.Time = Metric{}, time.Time{} // the keys have them
	merged := minutes[minute]
	merged.merge(p)
	minutes[minute] = merged
}

// read returns the last n periods that end with the minute before end.
func (s store) read(q Query, end int64, n int) *metricmath.Series {
	minutes := s[q.Metric.key()]
	length := int64(q.Period / time.Minute)
	first := end - int64(n)*length
	out := &metricmath.Series{Grid: metricmath.Grid{Start: first * 60, Period: length * 60, Count: int64(n)}}
	for start := first; start < end; start += length {
		var merged Datapoint
		for m := start; m < start+length && len(minutes) > 0; m++ {
			if p, ok := minutes[m]; ok {
				merged.merge(p)
			}
		}
		if merged.Count > 0 {
			out.Add(start*60, statistics[q.Statistic](merged))
		}
	}
	return out
}

// forget drops the datapoints of minutes before the first.
func (s store) forget(first int64) {
	for key, minutes := range s {
		maps.DeleteFunc(minutes, func(m int64, _ Datapoint) bool { return m < first })
		if len(minutes) == 0 {
			delete(s, key)
		}
	}
}
