package cloudwatch_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

func TestStatistics(t *testing.T) {
	bubble(t, func(c *client) {
		for _, v := range []float64{9, 2, 4} {
			c.must(c.put(datum("single", 0, v)))
		}
		c.must(c.put(types.MetricDatum{
			MetricName: aws.String("counted"), Timestamp: aws.Time(at(0)), Values: []float64{1, 5}, Counts: []float64{98, 2},
		}))
		set := func(count, sum, low, high float64) types.MetricDatum {
			return types.MetricDatum{
				MetricName: aws.String("set"), Timestamp: aws.Time(at(0)), StatisticValues: &types.StatisticSet{
					SampleCount: &count, Sum: &sum, Minimum: &low, Maximum: &high,
				},
			}
		}
		c.must(c.put(set(3, 12, 1, 8), set(1, 20, 20, 20)))
		for _, tt := range []struct{ name, statistic, want string }{
			{"single", "SampleCount", "0:3"}, {"single", "Sum", "0:15"}, {"single", "Average", "0:5"},
			{"single", "Minimum", "0:2"}, {"single", "Maximum", "0:9"},
			{"single", "p0", "0:2"}, {"single", "p50", "0:4"}, {"single", "p99.9", "0:9"}, {"single", "p100", "0:9"},
			{"counted", "SampleCount", "0:100"}, {"counted", "Sum", "0:108"},
			{"counted", "p98", "0:1"}, {"counted", "p99", "0:5"},
			{"set", "SampleCount", "0:4"}, {"set", "Sum", "0:32"}, {"set", "Minimum", "0:1"}, {"set", "Maximum", "0:20"},
			{"set", "p50", ""}, // the values are not known
		} {
			got, err := c.get(stat("m", tt.name, tt.statistic), expression("m"))
			if err != nil || got != tt.want {
				c.Errorf("%s of %s: got %q (%v), want %q", tt.statistic, tt.name, got, err, tt.want)
			}
		}
	})
}

func TestPeriodsAndResolution(t *testing.T) {
	bubble(t, func(c *client) {
		for _, seconds := range []float64{0, 5, 59, 60, 299, 300} {
			d := datum("coarse", seconds/60, 1)
			c.must(c.put(d))
			d.MetricName, d.StorageResolution = aws.String("fine"), aws.Int32(1)
			c.must(c.put(d))
		}
		for _, tt := range []struct {
			name   string
			period int32
			want   string
		}{
			{"coarse", 60, "0:3 1:1 4:1 5:1"},
			{"coarse", 300, "0:5 5:1"},
			{"coarse", 3600, "0:6"},
			{"coarse", 1, "0:3 1:1 4:1 5:1"}, // put by the minute
			{"fine", 60, "0:3 1:1 4:1 5:1"},
			{"fine", 30, "0:2 0.5:1 1:1 4.5:1 5:1"},
			{"fine", 5, "0:1 0.08333333333333333:1 0.9166666666666666:1 1:1 4.916666666666667:1 5:1"},
		} {
			q := stat("m", tt.name, "Sum")
			q.MetricStat.Period = &tt.period
			got, err := c.get(q, expression("m"))
			if err != nil || got != tt.want {
				c.Errorf("%s by %d s: got %q (%v), want %q", tt.name, tt.period, got, err, tt.want)
			}
		}
	})
}

// A range begins with the period in which its start is, and ends before its end.
func TestRange(t *testing.T) {
	bubble(t, func(c *client) {
		c.values("v", 0, 1, 2, 3, 4)
		for _, tt := range []struct {
			start, end float64
			want       string
		}{
			{1, 3, "[1 2]"}, {1.5, 3, "[1 2]"}, {1.5, 3.1, "[1 2 3]"}, {4, 100, "[4]"}, {5, 6, "[]"},
		} {
			q := stat("v", "v", "Sum")
			q.ReturnData = nil
			out, err := c.GetMetricData(c.Context(), &awscloudwatch.GetMetricDataInput{
				StartTime: aws.Time(at(tt.start)), EndTime: aws.Time(at(tt.end)), MetricDataQueries: []types.MetricDataQuery{q},
				ScanBy: types.ScanByTimestampAscending,
			})
			c.must(err)
			if got := fmt.Sprint(out.MetricDataResults[0].Values); got != tt.want {
				c.Errorf("%g to %g: got %s, want %s", tt.start, tt.end, got, tt.want)
			}
		}
	})
}

func TestResultsAreLabelledAndBeginWithTheLatest(t *testing.T) {
	bubble(t, func(c *client) {
		c.values("v", 1, 2)
		plain, labelled := stat("plain", "v", "Sum"), stat("labelled", "v", "Sum")
		plain.ReturnData, labelled.ReturnData, labelled.Label = nil, nil, aws.String("Depth")
		out, err := c.GetMetricData(c.Context(), &awscloudwatch.GetMetricDataInput{
			StartTime: aws.Time(at(0)), EndTime: aws.Time(at(10)),
			MetricDataQueries: []types.MetricDataQuery{labelled, expression("plain*2"), plain},
		})
		c.must(err)
		var got []string
		for _, r := range out.MetricDataResults {
			got = append(got, fmt.Sprint(*r.Id, " ", *r.Label, " ", r.StatusCode, " ", r.Values))
		}
		want := "labelled Depth Complete [2 1]; e e Complete [4 2]; plain v Complete [2 1]"
		if s := strings.Join(got, "; "); s != want {
			c.Errorf("got %s, want %s", s, want)
		}
	})
}

func TestUnits(t *testing.T) {
	bubble(t, func(c *client) {
		for i, unit := range []types.StandardUnit{"Seconds", "Count", ""} {
			d := datum("v", 0, float64(1+i))
			d.Unit = unit
			c.must(c.put(d))
		}
		for unit, want := range map[types.StandardUnit]string{"": "0:6", "Seconds": "0:1", "None": "0:3", "Bytes": ""} {
			q := stat("v", "v", "Sum")
			q.MetricStat.Unit = unit
			got, err := c.get(q, expression("v"))
			if err != nil || got != want {
				c.Errorf("unit %q: got %q (%v), want %q", unit, got, err, want)
			}
		}
		out, err := c.GetMetricStatistics(c.Context(), &awscloudwatch.GetMetricStatisticsInput{
			Namespace: aws.String("N"), MetricName: aws.String("v"), Period: aws.Int32(60),
			StartTime: aws.Time(at(0)), EndTime: aws.Time(at(10)), Statistics: []types.Statistic{"Sum", "Maximum"},
			ExtendedStatistics: []string{"p50"},
		})
		c.must(err)
		var got []string
		for _, p := range out.Datapoints {
			median := p.ExtendedStatistics["p50"]
			got = append(got, fmt.Sprint(p.Unit, " ", *p.Sum, " ", *p.Maximum, " ", median, p.Average == nil))
		}
		if s := strings.Join(got, "; "); s != "Count 2 2 2 true; None 3 3 3 true; Seconds 1 1 1 true" || *out.Label != "v" {
			c.Errorf("datapoints: %s", s)
		}
	})
}

func TestDataThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		type data = types.MetricDatum
		with := func(change func(d *data)) data {
			d := datum("m", 0, 1)
			change(&d)
			return d
		}
		dimensions := func(n int) (all []types.Dimension) {
			for i := range n {
				all = append(all, types.Dimension{Name: aws.String(fmt.Sprint("d", i)), Value: aws.String("v")})
			}
			return all
		}
		ok := with(func(d *data) { d.Dimensions = dimensions(30) })
		c.must(c.put(ok))
		const value, absent, combined = "InvalidParameterValue", "MissingParameter", "InvalidParameterCombination"
		for name, tt := range map[string]struct {
			change     func(d *data)
			code, text string
		}{
			"no name":            {func(d *data) { d.MetricName = aws.String("") }, absent, "MetricName"},
			"long name":          {func(d *data) { d.MetricName = aws.String(strings.Repeat("n", 256)) }, value, "255"},
			"31 dimensions":      {func(d *data) { d.Dimensions = dimensions(31) }, value, "greater than 30"},
			"a dimension twice":  {func(d *data) { d.Dimensions = slices.Repeat(dimensions(1), 2) }, value, "twice"},
			"no value":           {func(d *data) { d.Value = nil }, absent, "MetricData.member.2.Value"},
			"two kinds":          {func(d *data) { d.Values = []float64{1} }, combined, "exclusive"},
			"none":               {func(d *data) { d.Value = aws.Float64(math.NaN()) }, value, "NaN"},
			"infinite":           {func(d *data) { d.Value = aws.Float64(math.Inf(-1)) }, value, "-Inf"},
			"too large":          {func(d *data) { d.Value = aws.Float64(1e200) }, value, "1e+200"},
			"unknown unit":       {func(d *data) { d.Unit = "Apples" }, value, "Unit"},
			"odd resolution":     {func(d *data) { d.StorageResolution = aws.Int32(30) }, value, "1 or 60"},
			"before two weeks":   {func(d *data) { d.Timestamp = aws.Time(at(-14*24*60 - 1)) }, value, "two weeks"},
			"in three hours":     {func(d *data) { d.Timestamp = aws.Time(at(180)) }, value, "two hours"},
			"counts of others":   {func(d *data) { *d = counted([]float64{1, 2}, []float64{1}) }, value, "as many as"},
			"a negative count":   {func(d *data) { *d = counted([]float64{1}, []float64{-1}) }, value, "is invalid"},
			"counts of zero":     {func(d *data) { *d = counted([]float64{1}, []float64{0}) }, value, "positive"},
			"151 values":         {func(d *data) { *d = counted(make([]float64, 151), nil) }, value, "150"},
			"an empty set":       {func(d *data) { *d = setOf(0, 1, 2) }, value, "contradict"},
			"least over highest": {func(d *data) { *d = setOf(1, 3, 2) }, value, "contradict"},
		} {
			err := c.put(datum("sound", 0, 1), with(tt.change))
			if err == nil {
				c.Errorf("%s: accepted", name)
				continue
			}
			c.wantCode(err, tt.code, tt.text)
		}
		out, err := c.ListMetrics(c.Context(), &awscloudwatch.ListMetricsInput{})
		c.must(err)
		if got := names(out.Metrics); got != "m" {
			c.Errorf("requests that were refused left %s", got)
		}
	})
}

func counted(values, counts []float64) types.MetricDatum {
	return types.MetricDatum{MetricName: aws.String("m"), Values: values, Counts: counts}
}

func setOf(count, low, high float64) types.MetricDatum {
	return types.MetricDatum{MetricName: aws.String("m"), StatisticValues: &types.StatisticSet{
		SampleCount: &count, Sum: aws.Float64(1), Minimum: &low, Maximum: &high,
	}}
}

func TestNamespacesAndSizesOfRequests(t *testing.T) {
	bubble(t, func(c *client) {
		put := func(namespace string, n int) error {
			data := make([]types.MetricDatum, n)
			for i := range data {
				data[i] = datum("m", 0, 1)
			}
			_, err := c.PutMetricData(c.Context(), &awscloudwatch.PutMetricDataInput{Namespace: &namespace, MetricData: data})
			return err
		}
		c.must(put("N", 1000))
		c.must(put("AWS", 1))
		c.wantCode(put("N", 1001), "InvalidParameterValue", "1000")
		c.wantCode(put("N", 0), "MissingParameter", "MetricData")
		c.wantCode(put("", 1), "MissingParameter", "Namespace")
		c.wantCode(put(":N", 1), "InvalidParameterValue", ":N")
		c.wantCode(put("AWS/SQS", 1), "InvalidParameterValue", "AWS/")
		c.wantCode(put(strings.Repeat("n", 256), 1), "InvalidParameterValue", "Namespace")
	})
}

func TestQueriesThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		with := func(change func(q *types.MetricDataQuery)) types.MetricDataQuery {
			q := stat("m", "m", "Sum")
			change(&q)
			return q
		}
		for name, tt := range map[string]struct {
			query      types.MetricDataQuery
			code, text string
		}{
			"upper case id": {with(func(q *types.MetricDataQuery) { q.Id = aws.String("M") }), "InvalidParameterValue", `"M"`},
			"id twice":      {stat("e", "m", "Sum"), "InvalidParameterValue", "e occurs twice"},
			"statistic":     {stat("m", "m", "Median"), "InvalidParameterValue", "Median"},
			"percentile":    {stat("m", "m", "p101"), "InvalidParameterValue", "p101"},
			"trimmed mean":  {stat("m", "m", "tm90"), "UnsupportedOperation", "tm90"},
			"odd period": {
				with(func(q *types.MetricDataQuery) { q.MetricStat.Period = aws.Int32(61) }), "InvalidParameterValue", "61",
			},
			"no name": {
				with(func(q *types.MetricDataQuery) { q.MetricStat.Metric.MetricName = aws.String("") }),
				"MissingParameter", "MetricName",
			},
			"odd unit": {
				with(func(q *types.MetricDataQuery) { q.MetricStat.Unit = "Apples" }), "InvalidParameterValue", "Unit",
			},
			"other account": {
				with(func(q *types.MetricDataQuery) { q.AccountId = aws.String("1") }), "UnsupportedOperation", "AccountId",
			},
		} {
			_, err := c.get(tt.query, types.MetricDataQuery{Id: aws.String("e"), Expression: aws.String("1")})
			if err == nil {
				c.Errorf("%s: accepted", name)
				continue
			}
			c.wantCode(err, tt.code, tt.text)
		}
		for want, in := range map[string]awscloudwatch.GetMetricDataInput{
			"less than":     {StartTime: aws.Time(at(1)), EndTime: aws.Time(at(1))},
			"MaxDatapoints": {StartTime: aws.Time(at(0)), EndTime: aws.Time(at(1)), MaxDatapoints: aws.Int32(5)},
			"NextToken":     {StartTime: aws.Time(at(0)), EndTime: aws.Time(at(1)), NextToken: aws.String("x")},
			"ScanBy":        {StartTime: aws.Time(at(0)), EndTime: aws.Time(at(1)), ScanBy: "Sideways"},
		} {
			in.MetricDataQueries = []types.MetricDataQuery{stat("m", "m", "Sum")}
			_, err := c.GetMetricData(c.Context(), &in)
			if err == nil || !strings.Contains(err.Error(), want) {
				c.Errorf("got %v, want a refusal with %q", err, want)
			}
		}
	})
}

func TestStatisticsThatAreRefused(t *testing.T) {
	type input = awscloudwatch.GetMetricStatisticsInput
	const value, absent = "InvalidParameterValue", "MissingParameter"
	bubble(t, func(c *client) {
		for name, tt := range map[string]struct {
			change     func(in *input)
			code, text string
		}{
			"period":     {func(in *input) { in.Period = aws.Int32(7) }, value, "7"},
			"none":       {func(in *input) { in.Statistics = nil }, absent, "Statistics"},
			"unknown":    {func(in *input) { in.Statistics[0] = "p50" }, value, "p50"},
			"percentile": {func(in *input) { in.ExtendedStatistics = []string{"q"} }, value, "q"},
			"unit":       {func(in *input) { in.Unit = "Apples" }, value, "Unit"},
			"range":      {func(in *input) { in.EndTime = in.StartTime }, value, "less than"},
			"too many":   {func(in *input) { in.EndTime = aws.Time(at(1441)) }, "InvalidParameterCombination", "1441"},
			"six": {func(in *input) {
				in.Statistics = append(in.Statistics, "Sum", "Sum", "Sum", "Sum", "Sum")
			}, value, "5"},
		} {
			in := &input{
				Namespace: aws.String("N"), MetricName: aws.String("v"), Period: aws.Int32(60),
				StartTime: aws.Time(at(0)), EndTime: aws.Time(at(1440)), Statistics: []types.Statistic{"Sum"},
			}
			out, err := c.GetMetricStatistics(c.Context(), in)
			c.must(err)
			if len(out.Datapoints) != 0 {
				c.Errorf("%d datapoints of a metric that is not there", len(out.Datapoints))
			}
			tt.change(in)
			if _, err = c.GetMetricStatistics(c.Context(), in); err == nil {
				c.Errorf("%s: accepted", name)
				continue
			}
			c.wantCode(err, tt.code, tt.text)
		}
	})
}

func TestDataAreForgottenAfterTwoWeeks(t *testing.T) {
	bubble(t, func(c *client) {
		c.values("v", 1)
		<-time.After(14*24*time.Hour - time.Minute)
		if got, err := c.get(stat("v", "v", "Sum"), expression("v")); err != nil || got != "0:1" {
			c.Errorf("got %q (%v)", got, err)
		}
		<-time.After(2 * time.Minute)
		out, err := c.ListMetrics(c.Context(), &awscloudwatch.ListMetricsInput{})
		c.must(err)
		if len(out.Metrics) != 0 {
			c.Error("a metric without data for two weeks is listed")
		}
		c.must(c.put(types.MetricDatum{MetricName: aws.String("v"), Value: aws.Float64(5)}))
		if got, err := c.get(stat("v", "v", "Sum"), expression("v")); err != nil || got != "" {
			c.Errorf("got %q (%v)", got, err)
		}
	})
}

func TestListMetrics(t *testing.T) {
	bubble(t, func(c *client) {
		put := func(namespace, name string, pairs ...string) {
			var ds []types.Dimension
			for i := 0; i < len(pairs); i += 2 {
				ds = append(ds, types.Dimension{Name: &pairs[i], Value: &pairs[i+1]})
			}
			_, err := c.PutMetricData(c.Context(), &awscloudwatch.PutMetricDataInput{
				Namespace: &namespace, MetricData: []types.MetricDatum{{MetricName: &name, Value: aws.Float64(1), Dimensions: ds}},
			})
			c.must(err)
		}
		put("N", "old")
		<-time.After(4 * time.Hour)
		put("N", "a", "q", "1", "r", "2")
		put("N", "a", "r", "2", "q", "1") // the same
		put("N", "b", "q", "2")
		put("M", "c")
		filter := func(name string, value *string) []types.DimensionFilter {
			return []types.DimensionFilter{{Name: &name, Value: value}}
		}
		for _, tt := range []struct {
			in   awscloudwatch.ListMetricsInput
			want string
		}{
			{awscloudwatch.ListMetricsInput{}, "a,b,c,old"},
			{awscloudwatch.ListMetricsInput{Namespace: aws.String("N")}, "a,b,old"},
			{awscloudwatch.ListMetricsInput{MetricName: aws.String("c")}, "c"},
			{awscloudwatch.ListMetricsInput{Dimensions: filter("q", nil)}, "a,b"},
			{awscloudwatch.ListMetricsInput{Dimensions: filter("q", aws.String("2"))}, "b"},
			{awscloudwatch.ListMetricsInput{Dimensions: filter("none", nil)}, ""},
			{awscloudwatch.ListMetricsInput{RecentlyActive: types.RecentlyActivePt3h}, "a,b,c"},
		} {
			out, err := c.ListMetrics(c.Context(), &tt.in)
			c.must(err)
			if got := names(out.Metrics); got != tt.want {
				c.Errorf("%+v: got %s, want %s", tt.in, got, tt.want)
			}
		}
		_, err := c.ListMetrics(c.Context(), &awscloudwatch.ListMetricsInput{NextToken: aws.String("?")})
		c.wantCode(err, "InvalidNextToken", "")
	})
}

func TestListMetricsInPages(t *testing.T) {
	bubble(t, func(c *client) {
		const n = 1001
		for from := 0; from < n; from += 1000 {
			var data []types.MetricDatum
			for i := from; i < min(from+1000, n); i++ {
				data = append(data, datum(fmt.Sprint("m", i), 0, 1))
			}
			c.must(c.put(data...))
		}
		seen, pages := map[string]bool{}, 0
		for p := awscloudwatch.NewListMetricsPaginator(c, &awscloudwatch.ListMetricsInput{}); p.HasMorePages(); pages++ {
			out, err := p.NextPage(c.Context())
			c.must(err)
			for _, m := range out.Metrics {
				seen[*m.MetricName] = true
			}
		}
		if len(seen) != n || pages != 3 {
			c.Errorf("%d metrics in %d pages, want %d in 3", len(seen), pages, n)
		}
	})
}
