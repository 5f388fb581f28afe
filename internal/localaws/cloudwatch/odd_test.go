package cloudwatch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/cloudwatch"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Requests that no SDK makes are refused for what is wrong with them.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	const (
		absent = "MissingRequiredParameter"
		beyond = "UnsupportedOperation"
		query  = `"MetricDataQueries":[{"Id":"e","Expression":"1"}]`
		metric = `"Namespace":"N","MetricName":"m"`
		set    = `{"Namespace":"N","MetricData":[{"MetricName":"m","StatisticValues":`
		dims   = `{"Namespace":"N","MetricData":[{"MetricName":"m","Value":1,"Dimensions":`
	)
	for name, tt := range map[string]struct{ operation, body, code, text string }{
		"no JSON":            {"PutMetricData", `{`, "SerializationException", "PutMetricData"},
		"text for a number":  {"PutMetricData", `{"Namespace":"N","MetricData":[{"Value":"1"}]}`, "Serialization", ""},
		"text for a time":    {"GetMetricData", `{"StartTime":"now"}`, "SerializationException", ""},
		"nothing to put":     {"PutMetricData", `{"Namespace":"N"}`, absent, "MetricData"},
		"datum of null":      {"PutMetricData", `{"Namespace":"N","MetricData":[null]}`, absent, "MetricName"},
		"no dimension name":  {"PutMetricData", dims + `[{"Value":"v"}]}]}`, absent, "member.1.Name"},
		"no dimension value": {"PutMetricData", dims + `[{"Name":"n"}]}]}`, absent, "member.1.Value"},
		"colon of dimension": {"PutMetricData", dims + `[{"Name":":n","Value":"v"}]}]}`, "InvalidParameterValue", "Name"},
		"a part of a set":    {"PutMetricData", set + `{"Sum":1,"Minimum":1,"Maximum":1}}]}`, absent, "SampleCount"},
		"infinite set": {
			"PutMetricData", set + `{"SampleCount":1,"Sum":"Infinity","Minimum":1,"Maximum":1}}]}`,
			"InvalidParameterValue", "Sum",
		},
		"entities":         {"PutMetricData", `{"Namespace":"N","EntityMetricData":[{}]}`, beyond, "EntityMetricData"},
		"no queries":       {"GetMetricData", `{"StartTime":0,"EndTime":1}`, absent, "MetricDataQueries"},
		"no start":         {"GetMetricData", `{` + query + `,"EndTime":1}`, absent, "StartTime"},
		"no end":           {"GetMetricData", `{` + query + `,"StartTime":1}`, absent, "EndTime"},
		"filled for ages":  {"GetMetricData", filledForAges, "InvalidParameterValue", "FILL: it would give more than 100800"},
		"no metric":        {"GetMetricStatistics", `{"Namespace":"N"}`, absent, "MetricName"},
		"no period":        {"GetMetricStatistics", `{` + metric + `,"StartTime":0,"EndTime":1}`, absent, "Period"},
		"odd recency":      {"ListMetrics", `{"RecentlyActive":"PT1H"}`, "InvalidParameterValue", "PT3H"},
		"linked accounts":  {"ListMetrics", `{"IncludeLinkedAccounts":true}`, beyond, "IncludeLinkedAccounts"},
		"state of nothing": {"SetAlarmState", `{"StateValue":"OK","StateReason":""}`, absent, "AlarmName"},
		"no reason":        {"SetAlarmState", `{"AlarmName":"a","StateValue":"OK"}`, absent, "StateReason"},
		"alarm of nothing": {"PutMetricAlarm", `{}`, absent, "AlarmName"},
		"PromQL":           {"PutMetricAlarm", `{"EvaluationCriteria":{}}`, beyond, "EvaluationCriteria"},
		"tagged dashboard": {"PutDashboard", `{"Tags":[{}]}`, beyond, "Tags"},
		"lower case":       {"GetDashboard", `{"dashboardName":"d"}`, "ValidationException", "there is DashboardName"},
		"unknown member":   {"PutMetricData", `{"MetricData":[{"Color":1}]}`, "ValidationException", "Color"},
		"unknown":          {"PutInsightRule", `{}`, "UnknownOperationException", "does not implement PutInsightRule"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloudwatch.New(nil)
			_, err := s.Operate(t.Context(), &protocol.Request{Operation: tt.operation, Body: []byte(tt.body)})
			e, ok := errors.AsType[*protocol.Error](err)
			if !ok || !strings.HasPrefix(e.Code, tt.code) || !strings.Contains(e.Message, tt.text) {
				t.Errorf("got %v, want %s with %q", err, tt.code, tt.text)
			}
		})
	}
}

// filledForAges asks for a metric that is filled from 1970 on, by the second.
const filledForAges = `{"StartTime":0,"EndTime":1700000000,"MetricDataQueries":[{"Id":"e","Expression":"FILL(m,0)"},
	{"Id":"m","MetricStat":{"Metric":{"Namespace":"N","MetricName":"m"},"Stat":"Sum","Period":1}}]}`

// A chain of expressions that each name the one before twice takes no longer
// than its length.
func TestExpressionsAreComputedOnce(t *testing.T) {
	t.Parallel()
	queries := []string{
		`{"Id":"e0","ReturnData":false,"MetricStat":{"Metric":{"Namespace":"N","MetricName":"m"},"Stat":"Sum","Period":60}}`,
	}
	last := "e0"
	for i := range 100 {
		id := "e" + strings.Repeat("x", i+1)
		queries = append(queries, `{"Id":"`+id+`","Expression":"`+last+" + "+last+`"}`)
		last = id
	}
	_, err := cloudwatch.New(nil).Operate(t.Context(), &protocol.Request{
		Operation: "GetMetricData",
		Body:      []byte(`{"StartTime":0,"EndTime":600,"MetricDataQueries":[` + strings.Join(queries, ",") + `]}`),
	})
	if err != nil {
		t.Error(err)
	}
}
