package cloudwatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// flood is an alarm on an expression, as a template of sqsafe has it.
func flood(name string) *awscloudwatch.PutMetricAlarmInput {
	return &awscloudwatch.PutMetricAlarmInput{
		AlarmName: &name, AlarmDescription: aws.String("Many dead letters."),
		Metrics: []types.MetricDataQuery{
			{Id: aws.String("arrivals"), Expression: aws.String("DIFF(v + FILL(n,0))"), Label: aws.String("Added")},
			stat("v", "Visible", "Maximum"), stat("n", "NotVisible", "Maximum"),
		},
		ComparisonOperator: types.ComparisonOperatorGreaterThanOrEqualToThreshold, Threshold: aws.Float64(10),
		EvaluationPeriods: aws.Int32(1), DatapointsToAlarm: aws.Int32(1), TreatMissingData: aws.String("notBreaching"),
		AlarmActions: []string{"arn:aws:sns:us-east-1:000000000000:t"},
	}
}

// plain is an alarm on one metric.
func plain(name string) *awscloudwatch.PutMetricAlarmInput {
	return &awscloudwatch.PutMetricAlarmInput{
		AlarmName: &name, Namespace: aws.String("N"), MetricName: aws.String("m"), Statistic: types.StatisticSum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: types.ComparisonOperatorLessThanThreshold,
	}
}

func (c *client) putAlarm(in *awscloudwatch.PutMetricAlarmInput) error {
	_, err := c.PutMetricAlarm(c.Context(), in)
	return err
}

func (c *client) alarm(name string) types.MetricAlarm {
	c.Helper()
	out, err := c.DescribeAlarms(c.Context(), &awscloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	c.must(err)
	if len(out.MetricAlarms) != 1 {
		c.Fatalf("%d alarms of the name %s", len(out.MetricAlarms), name)
	}
	return out.MetricAlarms[0]
}

func (c *client) setState(name string, state types.StateValue) error {
	_, err := c.SetAlarmState(c.Context(), &awscloudwatch.SetAlarmStateInput{
		AlarmName: &name, StateValue: state, StateReason: aws.String("by hand"),
	})
	return err
}

func TestAlarmIsShownAsItWasPut(t *testing.T) {
	bubble(t, func(c *client) {
		in := flood("flood")
		c.must(c.putAlarm(in))
		now := at(0)
		want := types.MetricAlarm{
			AlarmName: in.AlarmName, AlarmDescription: in.AlarmDescription, Metrics: in.Metrics,
			ComparisonOperator: in.ComparisonOperator, Threshold: in.Threshold, EvaluationPeriods: in.EvaluationPeriods,
			DatapointsToAlarm: in.DatapointsToAlarm, TreatMissingData: in.TreatMissingData, AlarmActions: in.AlarmActions,
			AlarmArn:       aws.String("arn:aws:cloudwatch:us-east-1:000000000000:alarm:flood"),
			ActionsEnabled: aws.Bool(true), StateValue: types.StateValueInsufficientData,
			StateReason:                        aws.String("Unchecked: Initial alarm creation"),
			AlarmConfigurationUpdatedTimestamp: &now, StateUpdatedTimestamp: &now, StateTransitionedTimestamp: &now,
		}
		ignored := cmpopts.IgnoreUnexported(
			types.MetricAlarm{}, types.MetricDataQuery{}, types.MetricStat{}, types.Metric{},
		)
		if diff := cmp.Diff(want, c.alarm("flood"), ignored, cmpopts.EquateEmpty()); diff != "" {
			c.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestStateOfAnAlarm(t *testing.T) {
	bubble(t, func(c *client) {
		c.must(c.putAlarm(plain("a")))
		<-time.After(time.Minute)
		c.must(c.setState("a", types.StateValueAlarm))
		<-time.After(time.Minute)
		c.must(c.setState("a", types.StateValueAlarm))
		a := c.alarm("a")
		if a.StateValue != types.StateValueAlarm || *a.StateReason != "by hand" ||
			!a.StateTransitionedTimestamp.Equal(at(1)) || !a.StateUpdatedTimestamp.Equal(at(2)) {
			c.Errorf("state %s (%s), since %s, updated %s",
				a.StateValue, *a.StateReason, a.StateTransitionedTimestamp, a.StateUpdatedTimestamp)
		}
		changed := plain("a")
		changed.Threshold = aws.Float64(5)
		c.must(c.putAlarm(changed))
		if a := c.alarm("a"); a.StateValue != types.StateValueAlarm || *a.Threshold != 5 ||
			!a.AlarmConfigurationUpdatedTimestamp.Equal(at(2)) {
			c.Errorf("after a change: %s, threshold %g", a.StateValue, *a.Threshold)
		}
		c.wantCode(c.setState("none", types.StateValueOk), "ResourceNotFound", "none")
		c.wantCode(c.setState("a", "BAD"), "InvalidParameterValue", "BAD")
	})
}

func TestDescribeAlarms(t *testing.T) {
	bubble(t, func(c *client) {
		for _, name := range []string{"b", "a1", "a3", "a2"} {
			in := plain(name)
			if name == "a2" {
				in.OKActions = []string{"arn:x"}
			}
			c.must(c.putAlarm(in))
		}
		c.must(c.setState("a1", types.StateValueOk))
		for _, tt := range []struct {
			in   awscloudwatch.DescribeAlarmsInput
			want string
		}{
			{awscloudwatch.DescribeAlarmsInput{}, "a1 a2 a3 b"},
			{awscloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String("a")}, "a1 a2 a3"},
			{awscloudwatch.DescribeAlarmsInput{AlarmNames: []string{"b", "none", "a1"}}, "a1 b"},
			{awscloudwatch.DescribeAlarmsInput{StateValue: types.StateValueOk}, "a1"},
			{awscloudwatch.DescribeAlarmsInput{ActionPrefix: aws.String("arn:")}, "a2"},
			{awscloudwatch.DescribeAlarmsInput{AlarmTypes: []types.AlarmType{types.AlarmTypeCompositeAlarm}}, ""},
			{awscloudwatch.DescribeAlarmsInput{MaxRecords: aws.Int32(3)}, "a1 a2 a3 | b"},
		} {
			if got := c.describe(tt.in); got != tt.want {
				c.Errorf("%+v: got %q, want %q", tt.in, got, tt.want)
			}
		}
		for want, in := range map[string]awscloudwatch.DescribeAlarmsInput{
			"exclusive":           {AlarmNames: []string{"a"}, AlarmNamePrefix: aws.String("a")},
			"MaxRecords":          {MaxRecords: aws.Int32(101)},
			"greater than 100":    {AlarmNames: make([]string, 101)},
			"ChildrenOfAlarmName": {ChildrenOfAlarmName: aws.String("a")},
			"next token":          {NextToken: aws.String("?")},
		} {
			if _, err := c.DescribeAlarms(c.Context(), &in); err == nil || !strings.Contains(err.Error(), want) {
				c.Errorf("got %v, want a refusal with %q", err, want)
			}
		}
	})
}

// describe gives the names of the alarms, with a bar between pages.
func (c *client) describe(in awscloudwatch.DescribeAlarmsInput) string {
	c.Helper()
	var pages []string
	for p := awscloudwatch.NewDescribeAlarmsPaginator(c, &in); p.HasMorePages(); {
		out, err := p.NextPage(c.Context())
		c.must(err)
		var names []string
		for _, a := range out.MetricAlarms {
			names = append(names, *a.AlarmName)
		}
		pages = append(pages, strings.Join(names, " "))
	}
	return strings.Join(pages, " | ")
}

func TestDeleteAlarmsDeletesAllOrNone(t *testing.T) {
	bubble(t, func(c *client) {
		for _, name := range []string{"a", "b", "c"} {
			c.must(c.putAlarm(plain(name)))
		}
		remove := func(names ...string) error {
			_, err := c.DeleteAlarms(c.Context(), &awscloudwatch.DeleteAlarmsInput{AlarmNames: names})
			return err
		}
		c.wantCode(remove("a", "none"), "ResourceNotFound", "none")
		c.must(remove("a", "c"))
		if got := c.describe(awscloudwatch.DescribeAlarmsInput{}); got != "b" {
			c.Errorf("left: %s", got)
		}
		c.wantCode(remove([]string{}...), "MissingParameter", "AlarmNames")
	})
}

func TestAlarmsThatAreRefused(t *testing.T) {
	type input = awscloudwatch.PutMetricAlarmInput
	hourly := func(name string) *input {
		in := plain(name)
		in.Period = aws.Int32(3600)
		return in
	}
	tag := func(key, value string) []types.Tag { return []types.Tag{{Key: &key, Value: &value}} }
	bubble(t, func(c *client) {
		for name, tt := range map[string]struct {
			base   func(string) *input
			change func(in *input)
			text   string
		}{
			"no name":            {plain, func(in *input) { in.AlarmName = aws.String("") }, "AlarmName"},
			"long name":          {plain, func(in *input) { in.AlarmName = aws.String(strings.Repeat("n", 256)) }, "255"},
			"comparison":         {plain, func(in *input) { in.ComparisonOperator = "Equal" }, "ComparisonOperator"},
			"band":               {plain, func(in *input) { in.ComparisonOperator = "LessThanLowerThreshold" }, "not implement"},
			"no threshold":       {plain, func(in *input) { in.Threshold = nil }, "Threshold"},
			"no periods":         {plain, func(in *input) { in.EvaluationPeriods = aws.Int32(0) }, "EvaluationPeriods"},
			"more datapoints":    {plain, func(in *input) { in.DatapointsToAlarm = aws.Int32(2) }, "DatapointsToAlarm"},
			"missing data":       {plain, func(in *input) { in.TreatMissingData = aws.String("panic") }, "panic"},
			"six actions":        {plain, func(in *input) { in.OKActions = make([]string, 6) }, "5 actions"},
			"no metric":          {plain, func(in *input) { in.MetricName = nil }, "MetricName or Metrics"},
			"both":               {flood, func(in *input) { in.MetricName = aws.String("m") }, "exclusive"},
			"no period":          {plain, func(in *input) { in.Period = nil }, "Period"},
			"odd period":         {plain, func(in *input) { in.Period = aws.Int32(45) }, "45"},
			"no statistic":       {plain, func(in *input) { in.Statistic = "" }, "either Statistic"},
			"two statistics":     {plain, func(in *input) { in.ExtendedStatistic = aws.String("p9") }, "either Statistic"},
			"unknown statistic":  {plain, func(in *input) { in.Statistic = "p50" }, "Statistic"},
			"more than a day":    {plain, func(in *input) { in.EvaluationPeriods = aws.Int32(1441) }, "more than a day"},
			"more than a week":   {hourly, func(in *input) { in.EvaluationPeriods = aws.Int32(169) }, "week"},
			"tags":               {plain, func(in *input) { in.Tags = tag("a", "b") }, "Tags"},
			"anomaly":            {flood, func(in *input) { in.ThresholdMetricId = aws.String("v") }, "ThresholdMetricId"},
			"period beside":      {flood, func(in *input) { in.Period = aws.Int32(60) }, "of its own"},
			"two returned":       {flood, func(in *input) { in.Metrics[1].ReturnData = nil }, "not 2"},
			"none returned":      {flood, func(in *input) { in.Metrics[0].ReturnData = aws.Bool(false) }, "not 0"},
			"only numbers":       {flood, func(in *input) { in.Metrics = in.Metrics[:1] }, "from 1 to 10 metrics"},
			"other periods":      {flood, func(in *input) { in.Metrics[1].MetricStat.Period = aws.Int32(300) }, "same period"},
			"unknown reference":  {flood, func(in *input) { in.Metrics[0].Expression = aws.String("x") }, "Id of no query"},
			"circle":             {flood, func(in *input) { in.Metrics[0].Expression = in.Metrics[0].Id }, "depends on itself"},
			"number":             {flood, func(in *input) { in.Metrics[0].Expression = aws.String("1") }, "gives a number"},
			"syntax":             {flood, func(in *input) { in.Metrics[0].Expression = aws.String("v +") }, "ends too early"},
			"unknown to this":    {flood, func(in *input) { in.Metrics[0].Expression = aws.String("LOG(v)") }, "LOG"},
			"statistic of query": {flood, func(in *input) { in.Metrics[1].MetricStat.Stat = aws.String("Most") }, "Most"},
		} {
			in := tt.base("a")
			tt.change(in)
			if err := c.putAlarm(in); err == nil || !strings.Contains(err.Error(), tt.text) {
				c.Errorf("%s: got %v, want a refusal with %q", name, err, tt.text)
			}
		}
		if got := c.describe(awscloudwatch.DescribeAlarmsInput{}); got != "" {
			c.Errorf("alarms that were refused are there: %s", got)
		}
	})
}

func TestDashboards(t *testing.T) {
	bubble(t, func(c *client) {
		const body = `{"widgets":[{"type":"text","properties":{"markdown":"hello"}}]}`
		put := func(name, body string) error {
			_, err := c.PutDashboard(c.Context(), &awscloudwatch.PutDashboardInput{DashboardName: &name, DashboardBody: &body})
			return err
		}
		c.must(put("b", `{"widgets":[]}`))
		c.must(put("ops-1", body))
		c.must(put("ops-2", body))
		out, err := c.GetDashboard(c.Context(), &awscloudwatch.GetDashboardInput{DashboardName: aws.String("ops-1")})
		c.must(err)
		if *out.DashboardArn != "arn:aws:cloudwatch::000000000000:dashboard/ops-1" || *out.DashboardBody != body {
			c.Errorf("%s: %s", *out.DashboardArn, *out.DashboardBody)
		}
		for text, bad := range map[string]string{
			"JSON": "{", "list widgets": "{}", "type": `{"widgets":[{}]}`, "properties": `{"widgets":[{"type":"text"}]}`,
		} {
			c.wantCode(put("x", bad), "InvalidParameterInput", text)
		}
		c.wantCode(put("no name", body), "InvalidParameterInput", "DashboardName")
		remove := func(names ...string) error {
			_, err := c.DeleteDashboards(c.Context(), &awscloudwatch.DeleteDashboardsInput{DashboardNames: names})
			return err
		}
		c.wantCode(remove("ops-1", "none"), "ResourceNotFound", "none")
		c.must(remove("ops-1"))
		c.wantCode(remove([]string{}...), "MissingParameter", "DashboardNames")
		list, err := c.ListDashboards(c.Context(), &awscloudwatch.ListDashboardsInput{DashboardNamePrefix: aws.String("ops")})
		c.must(err)
		var got []string
		for _, e := range list.DashboardEntries {
			got = append(got, fmt.Sprint(*e.DashboardName, " ", *e.Size, " ", e.LastModified.Equal(at(0))))
		}
		if want := fmt.Sprintf("[ops-2 %d true]", len(body)); fmt.Sprint(got) != want {
			c.Errorf("listed %v, want %s", got, want)
		}
	})
}
