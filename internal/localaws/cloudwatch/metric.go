package cloudwatch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

type dimension struct{ Name, Value string }

// metricID is what tells a metric from others.
type metricID struct {
	Namespace  string
	MetricName string
	Dimensions []dimension
}

// key is the same for the same dimensions in another order.
func (id metricID) key() string {
	parts := []string{id.Namespace, id.MetricName}
	for _, d := range sorted(id.Dimensions) {
		parts = append(parts, d.Name, d.Value)
	}
	for i, part := range parts {
		parts[i] = strconv.Quote(part)
	}
	return strings.Join(parts, " ")
}

func sorted(dimensions []dimension) []dimension {
	return slices.SortedFunc(slices.Values(dimensions), func(a, b dimension) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

// metric is a metric and its data, by time.
type metric struct {
	id      metricID
	samples []*sample
}

// sample is what was put into a metric for a second, or for a minute.
type sample struct {
	at   int64 // seconds since 1970
	unit string
	distribution
}

func compareSamples(a, b *sample) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.unit, b.unit))
}

// add puts values into the metric.
func (m *metric) add(x *sample) {
	i, found := slices.BinarySearchFunc(m.samples, x, compareSamples)
	if found {
		m.samples[i].merge(x.distribution)
		return
	}
	m.samples = slices.Insert(m.samples, i, x)
}

// forget drops what is older than a time.
func (m *metric) forget(before time.Time) {
	n := 0
	for n < len(m.samples) && m.samples[n].at < before.Unix() {
		n++
	}
	m.samples = slices.Delete(m.samples, 0, n)
}

// window is a range of time in periods, all in seconds. End is excluded.
type window struct{ start, end, period int64 }

// newWindow begins at the period in which start is.
func newWindow(start, end time.Time, period int64) window {
	return window{start.Unix() / period * period, end.Unix(), period}
}

// grid is the window as metric math has it.
func (w window) grid() metricmath.Grid {
	return metricmath.Grid{Start: w.start, Period: w.period, Count: w.count()}
}

// count is how many periods begin within the window.
func (w window) count() int64 { return (w.end - w.start + w.period - 1) / w.period }

// within gives the values of the metric in each period that has some. An empty
// unit means values of every unit.
func (m *metric) within(w window, unit string) map[int64]*distribution {
	all := map[int64]*distribution{}
	first, _ := slices.BinarySearchFunc(m.samples, &sample{at: w.start}, compareSamples)
	for _, x := range m.samples[first:] {
		at := x.at / w.period * w.period
		if at >= w.end {
			break
		}
		if unit != "" && unit != x.unit {
			continue
		}
		if all[at] == nil {
			all[at] = &distribution{values: map[float64]float64{}}
		}
		all[at].merge(x.distribution)
	}
	return all
}

// units are the units in which the metric was put, in order.
func (m *metric) units() []string {
	var all []string
	for _, x := range m.samples {
		if !slices.Contains(all, x.unit) {
			all = append(all, x.unit)
		}
	}
	slices.Sort(all)
	return all
}
