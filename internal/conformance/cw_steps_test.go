package conformance_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// cwEnv has the client and the steps that several checks share. Its methods
// stop the check when a step fails.
type cwEnv struct {
	c *cloudwatch.Client
}

var cwDims = []types.Dimension{{Name: aws.String("Queue"), Value: aws.String("orders")}}

// put sends a datum for each value. A zero time is not sent.
func (e *cwEnv) put(t T, ns, name string, at time.Time, values ...float64) error {
	var data []types.MetricDatum
	for _, v := range values {
		d := types.MetricDatum{MetricName: &name, Dimensions: cwDims, Value: &v, Unit: types.StandardUnitCount}
		if !at.IsZero() {
			d.Timestamp = &at
		}
		data = append(data, d)
	}
	_, err := e.c.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: &ns, MetricData: data})
	return err
}

// stat is a query of one statistic by the minute.
func stat(id, ns, name, statistic string) types.MetricDataQuery {
	return types.MetricDataQuery{Id: &id, MetricStat: &types.MetricStat{Stat: &statistic, Period: aws.Int32(60),
		Metric: &types.Metric{Namespace: &ns, MetricName: &name, Dimensions: cwDims}}}
}

func hidden(q types.MetricDataQuery) types.MetricDataQuery {
	q.ReturnData = aws.Bool(false)
	return q
}

// wantData waits until the queries give the values, of the last hour.
func (e *cwEnv) wantData(t T, want string, show func(map[string][]float64) string, qs ...types.MetricDataQuery) {
	t.Helper()
	eventually(t, 0, func() error {
		out, err := e.c.GetMetricData(
			t.Context(),
			&cloudwatch.GetMetricDataInput{
				StartTime:         aws.Time(time.Now().Add(-time.Hour).Truncate(time.Minute)),
				EndTime:           aws.Time(time.Now().Add(2 * time.Minute)),
				MetricDataQueries: qs,
				ScanBy:            types.ScanByTimestampAscending,
			},
		)
		must(t, "GetMetricData", err)
		m := map[string][]float64{}
		for _, r := range out.MetricDataResults {
			m[aws.ToString(r.Id)] = append(m[aws.ToString(r.Id)], r.Values...)
		}
		if got := show(m); got != want {
			return fmt.Errorf("got %s (%v), want %s", got, m, want)
		}
		return nil
	})
	t.Logf("%s", want)
}

func (e *cwEnv) wantListed(t T, ns string) {
	t.Helper()
	eventually(t, 0, func() error {
		out, err := e.c.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{Namespace: &ns})
		must(t, "ListMetrics", err)
		if len(out.Metrics) != 1 {
			return fmt.Errorf("listed %d metrics, want 1", len(out.Metrics))
		}
		return nil
	})
}

// alarmInput describes an alarm when the sum over a period is more than 3.
func (e *cwEnv) alarmInput() *cloudwatch.PutMetricAlarmInput {
	return &cloudwatch.PutMetricAlarmInput{
		AlarmName:          aws.String(unique("alarm")),
		Namespace:          aws.String(unique("NS")),
		MetricName:         aws.String("Depth"),
		Dimensions:         cwDims,
		Statistic:          types.StatisticSum,
		Period:             aws.Int32(60),
		EvaluationPeriods:  aws.Int32(1),
		Threshold:          aws.Float64(3),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		TreatMissingData:   aws.String("notBreaching"),
		AlarmActions:       []string{"arn:aws:sns:" + *region + ":000000000000:topic"},
	}
}

// alarm creates an alarm, which is deleted after the check.
func (e *cwEnv) alarm(t T, in *cloudwatch.PutMetricAlarmInput) {
	t.Helper()
	_, err := e.c.PutMetricAlarm(t.Context(), in)
	must(t, "PutMetricAlarm", err)
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		_, _ = e.c.DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{*in.AlarmName}})
	})
}

func (e *cwEnv) alarms(t T, name string) []types.MetricAlarm {
	t.Helper()
	out, err := e.c.DescribeAlarms(t.Context(), &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	must(t, "DescribeAlarms", err)
	return out.MetricAlarms
}

// theAlarm is the only alarm of the name.
func (e *cwEnv) theAlarm(t T, name string) types.MetricAlarm {
	t.Helper()
	as := e.alarms(t, name)
	if len(as) != 1 {
		t.Fatalf("%d alarms, want 1", len(as))
	}
	return as[0]
}

// cwChecks are all checks of CloudWatch.
func cwChecks() []check[*cwEnv] {
	return slices.Concat(cwMetricChecks, cwAlarmChecks, cwDashboardChecks, cwLimitChecks)
}

// minutesAgo is the beginning of a minute in the past.
func minutesAgo(n int) time.Time {
	return time.Now().Add(-time.Duration(n) * time.Minute).Truncate(time.Minute)
}
