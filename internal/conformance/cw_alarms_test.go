package conformance_test

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

var cwAlarmChecks = []check[*cwEnv]{
	{
		id:  "cw/alarms/put-and-describe",
		doc: "DescribeAlarms shows an alarm as PutMetricAlarm defined it.",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			e.alarm(t, in)
			a := e.theAlarm(t, *in.AlarmName)
			equal(
				t,
				"alarm",
				fmt.Sprintf(
					"%v %s %s %s %d %d", aws.ToFloat64(a.Threshold), a.ComparisonOperator, aws.ToString(a.TreatMissingData),
					a.Statistic, len(a.AlarmActions), len(a.Dimensions),
				),
				"3 GreaterThanThreshold notBreaching Sum 1 1",
			)
		},
	},
	{
		id:  "cw/alarms/metric-math",
		doc: "An alarm can be based on a metric math expression; DescribeAlarms shows its metrics.",
		run: func(t T, e *cwEnv) {
			ns := unique("NS")
			in := &cloudwatch.PutMetricAlarmInput{
				AlarmName:          aws.String(unique("alarm")),
				EvaluationPeriods:  aws.Int32(5),
				DatapointsToAlarm:  aws.Int32(3),
				Threshold:          aws.Float64(5),
				ComparisonOperator: types.ComparisonOperatorGreaterThanOrEqualToThreshold,
				Metrics: []types.MetricDataQuery{
					hidden(stat("m1", ns, "Err", "Sum")),
					hidden(stat("m2", ns, "All", "Sum")),
					{
						Id:         aws.String("e1"),
						Expression: aws.String("m1/m2*100"),
						Label:      aws.String("rate"),
						ReturnData: aws.Bool(true),
					},
				},
			}
			e.alarm(t, in)
			a := e.theAlarm(t, *in.AlarmName)
			expr := ""
			for _, q := range a.Metrics {
				expr += aws.ToString(q.Expression)
			}
			equal(
				t, "metrics, datapoints, expression",
				fmt.Sprint(len(a.Metrics), ", ", aws.ToInt32(a.DatapointsToAlarm), ", ", expr), "3, 3, m1/m2*100",
			)
		},
	},
	{
		id:  "cw/alarms/describe-by-prefix",
		doc: "DescribeAlarms with an AlarmNamePrefix shows the alarms whose name starts with it.",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			e.alarm(t, in)
			out, err := e.c.DescribeAlarms(
				t.Context(), &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String((*in.AlarmName)[:18])},
			)
			must(t, "DescribeAlarms", err)
			equal(t, "alarms", len(out.MetricAlarms), 1)
		},
	},
	{
		id:  "cw/alarms/without-metric-rejected",
		doc: "PutMetricAlarm: a MetricName, a Metrics array or an EvaluationCriteria must be given.",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			in.Namespace, in.MetricName, in.Dimensions, in.Statistic, in.Period = nil, nil, nil, "", nil
			_, err := e.c.PutMetricAlarm(t.Context(), in)
			wantRejected(t, err)
		},
	},
	{
		id: "cw/alarms/goes-to-alarm",
		doc: "An alarm is evaluated, and goes to ALARM when its metric breaches the threshold (here a " +
			"high-resolution alarm of 10 seconds).",
		debatable: "the documentation does not say how soon; the check waits 25 seconds and the slack",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			in.Period = aws.Int32(10)
			in.AlarmActions = nil
			e.alarm(t, in)
			eventually(t, 25*time.Second, func() error {
				_, err := e.c.PutMetricData(
					t.Context(),
					&cloudwatch.PutMetricDataInput{Namespace: in.Namespace, MetricData: []types.MetricDatum{
						{
							MetricName:        in.MetricName,
							Dimensions:        cwDims,
							Value:             aws.Float64(10),
							Timestamp:         aws.Time(time.Now()),
							StorageResolution: aws.Int32(1),
						},
					}},
				)
				must(t, "PutMetricData", err)
				if s := e.theAlarm(t, *in.AlarmName).StateValue; s != types.StateValueAlarm {
					wait(t, time.Second)
					return fmt.Errorf("state %s", s)
				}
				return nil
			})
		},
	},
	{
		id:  "cw/alarms/set-state",
		doc: "SetAlarmState sets the state of an alarm (until it is evaluated again).",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			e.alarm(t, in)
			_, err := e.c.SetAlarmState(
				t.Context(),
				&cloudwatch.SetAlarmStateInput{
					AlarmName:   in.AlarmName,
					StateValue:  types.StateValueAlarm,
					StateReason: aws.String("test"),
				},
			)
			must(t, "SetAlarmState", err)
			equal(t, "StateValue", e.theAlarm(t, *in.AlarmName).StateValue, types.StateValueAlarm)
		},
	},
	{
		id:  "cw/alarms/delete",
		doc: "DeleteAlarms deletes an alarm.",
		run: func(t T, e *cwEnv) {
			in := e.alarmInput()
			e.alarm(t, in)
			_, err := e.c.DeleteAlarms(t.Context(), &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{*in.AlarmName}})
			must(t, "DeleteAlarms", err)
			equal(t, "alarms", len(e.alarms(t, *in.AlarmName)), 0)
		},
	},
}
