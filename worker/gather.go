package worker

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

const (
	// manySeries is the number of series at which new reasons are counted as "other".
	// maxSeries is the number at which new series are dropped: CloudWatch has not
	// answered for a while then.
	manySeries = 500
	maxSeries  = 1000
)

// gathered sums the metrics of batches until take. It is safe for concurrent use.
type gathered struct {
	mu  sync.Mutex
	all map[series]*statistics
}

// series is a metric in one minute of the clock.
type series struct {
	minute time.Time
	name   string
	unit   metrics.Unit
}

// statistics are those of the batches of a minute.
type statistics struct{ count, sum, min, max float64 }

func (s *statistics) add(n float64) {
	if s.count == 0 {
		s.min, s.max = n, n
	}
	s.count++
	s.sum += n
	s.min, s.max = min(s.min, n), max(s.max, n)
}

// addAll adds the values of a batch.
func (s *statistics) addAll(v metrics.Value) {
	if v.Each == nil {
		s.add(v.N)
	}
	for _, n := range v.Each {
		s.add(n)
	}
}

// add adds the metrics of a batch that ended at the given time.
func (g *gathered) add(r handler.Report, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[series]*statistics{}
	}
	for _, v := range metrics.Values(r) {
		if s := g.of(series{at.Truncate(time.Minute), v.Name, v.Unit}); s != nil {
			s.addAll(v)
		}
	}
}

// beat counts a worker that runs in a minute, so that an alarm can tell one that
// has no jobs from one that is gone.
func (g *gathered) beat(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[series]*statistics{}
	}
	if s := g.of(series{at.Truncate(time.Minute), metrics.Workers, metrics.Count}); s != nil {
		s.add(1)
	}
}

// of returns the statistics of a series; nil if there are too many series.
func (g *gathered) of(key series) *statistics {
	if s := g.all[key]; s != nil {
		return s
	}
	if outcome, _, isReason := strings.Cut(key.name, "."); isReason && len(g.all) >= manySeries {
		key.name = outcome + "." + metrics.OtherReason
	}
	if g.all[key] == nil && len(g.all) < maxSeries {
		g.all[key] = &statistics{}
	}
	return g.all[key]
}

// take returns the gathered metrics, ordered by time and name, and removes them.
func (g *gathered) take(dimensions []types.Dimension) []types.MetricDatum {
	g.mu.Lock()
	all := g.all
	g.all = nil
	g.mu.Unlock()
	data := make([]types.MetricDatum, 0, len(all))
	for key, s := range all {
		data = append(data, types.MetricDatum{
			MetricName: &key.name, Timestamp: &key.minute, Unit: types.StandardUnit(key.unit), Dimensions: dimensions,
			StatisticValues: &types.StatisticSet{
				SampleCount: &s.count, Sum: &s.sum, Minimum: &s.min, Maximum: &s.max,
			},
		})
	}
	slices.SortFunc(data, func(x, y types.MetricDatum) int {
		return cmp.Or(x.Timestamp.Compare(*y.Timestamp), cmp.Compare(*x.MetricName, *y.MetricName))
	})
	return data
}
