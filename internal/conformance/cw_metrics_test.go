package conformance_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

var cwMetricChecks = []check[*cwEnv]{
	{
		id:  "cw/metrics/put-and-list",
		doc: "PutMetricData creates a metric, which ListMetrics shows (on the real service within 15 minutes).",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(t, "PutMetricData", e.put(t, ns, "Depth", time.Now(), 1))
			e.wantListed(t, ns)
		},
	},
	{
		id:  "cw/metrics/put-without-timestamp",
		doc: "PutMetricData: the Timestamp is optional.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(t, "PutMetricData", e.put(t, ns, "Depth", time.Time{}, 1))
			e.wantListed(t, ns)
		},
	},
	{
		id:  "cw/metrics/get-without-timestamp",
		doc: "A datum without a Timestamp is stored with the time at which it was received.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(t, "PutMetricData", e.put(t, ns, "Depth", time.Time{}, 2, 3))
			e.wantData(
				t, "[5]", func(m map[string][]float64) string { return fmt.Sprint(m["s"]) }, stat("s", ns, "Depth", "Sum"),
			)
		},
	},
	{
		id:  "cw/metrics/gzip-body",
		doc: "PutMetricData takes a payload that is compressed by gzip (the SDK compresses from 10 KiB on).",
		run: func(t T, e *cwEnv) {
			must(t, "PutMetricData", e.put(t, unique("NS"), "Big", time.Time{}, make([]float64, 400)...))
		},
	},
	{
		id:  "cw/metrics/statistics-of-a-period",
		doc: "GetMetricData gives Sum, Average, Maximum and SampleCount of the values of a period.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(t, "PutMetricData", e.put(t, ns, "Depth", minutesAgo(5).Add(10*time.Second), 2, 4, 9))
			e.wantData(
				t,
				"[15] [5] [9] [3]",
				func(m map[string][]float64) string { return fmt.Sprint(m["s"], m["a"], m["m"], m["n"]) },
				stat("s", ns, "Depth", "Sum"),
				stat("a", ns, "Depth", "Average"),
				stat("m", ns, "Depth", "Maximum"),
				stat("n", ns, "Depth", "SampleCount"),
			)
		},
	},
	{
		id:  "cw/metrics/periods-and-percentile",
		doc: "GetMetricData gives a value for each period with data, percentiles too when the values were put one by one.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			at := minutesAgo(10)
			must(t, "PutMetricData", e.put(t, ns, "Lat", at, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100))
			must(t, "PutMetricData", e.put(t, ns, "Lat", at.Add(time.Minute), 7))
			// How a percentile is interpolated is not documented.
			e.wantData(t, "[145 7] true", func(m map[string][]float64) string {
				p := m["p"]
				return fmt.Sprint(m["s"], len(p) == 2 && p[0] >= 8 && p[0] <= 100 && p[1] >= 6.9 && p[1] <= 7.1)
			}, stat("s", ns, "Lat", "Sum"), stat("p", ns, "Lat", "p90"))
		},
	},
	{
		id:  "cw/metrics/metric-math",
		doc: "GetMetricData computes a metric math expression; with ReturnData false the metrics in it are not returned.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(
				t, "PutMetricData", errors.Join(e.put(t, ns, "Err", minutesAgo(5), 5), e.put(t, ns, "All", minutesAgo(5), 20)),
			)
			e.wantData(
				t,
				"1 [25.0]",
				func(m map[string][]float64) string { return fmt.Sprintf("%d %.1f", len(m), m["e1"]) },
				hidden(stat("m1", ns, "Err", "Sum")),
				hidden(stat("m2", ns, "All", "Sum")),
				types.MetricDataQuery{Id: aws.String("e1"), Expression: aws.String("m1/m2*100")},
			)
		},
	},
	{
		id:  "cw/metrics/get-metric-statistics",
		doc: "GetMetricStatistics gives a datapoint for each period with data.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			must(t, "PutMetricData", e.put(t, ns, "Depth", minutesAgo(5).Add(10*time.Second), 2, 4))
			eventually(t, 0, func() error {
				out, err := e.c.GetMetricStatistics(
					t.Context(),
					&cloudwatch.GetMetricStatisticsInput{
						Namespace:  &ns,
						MetricName: aws.String("Depth"),
						Dimensions: cwDims,
						Period:     aws.Int32(60),
						StartTime:  aws.Time(time.Now().Add(-time.Hour)),
						EndTime:    aws.Time(time.Now()),
						Statistics: []types.Statistic{types.StatisticSum},
					},
				)
				must(t, "GetMetricStatistics", err)
				if n := len(out.Datapoints); n != 1 || aws.ToFloat64(out.Datapoints[0].Sum) != 6 {
					return fmt.Errorf("%d datapoints, want one whose sum is 6", n)
				}
				return nil
			})
		},
	},
}
