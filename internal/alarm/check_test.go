package alarm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// two has an alarm on an expression of two metrics.
func two() alarm.Definition {
	d := simple(1, 1, "")
	d.Queries = []alarm.Query{{ID: "e", Expression: "v + n", ReturnData: true}, column("v"), column("n")}
	return d
}

func TestDefinitionsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		change func(d *alarm.Definition)
		want   string
	}{
		{func(d *alarm.Definition) { d.Name = "" }, "it has no name"},
		{func(d *alarm.Definition) { d.ComparisonOperator = "Above" }, `"Above": write GreaterThanThreshold`},
		{func(d *alarm.Definition) { d.EvaluationPeriods = 0 }, "EvaluationPeriods 0: at least 1"},
		{func(d *alarm.Definition) { d.DatapointsToAlarm = 2 }, "DatapointsToAlarm 2: from 1 to the 1"},
		{func(d *alarm.Definition) { d.DatapointsToAlarm = -1 }, "DatapointsToAlarm -1"},
		{func(d *alarm.Definition) { d.TreatMissingData = "bad" }, `TreatMissingData "bad": write one of missing, ignore`},
		{func(d *alarm.Definition) { d.Queries = nil }, "0 queries have ReturnData"},
		{func(d *alarm.Definition) { d.Queries[1].ReturnData = true }, "2 queries have ReturnData"},
		{func(d *alarm.Definition) { d.Queries[2].ID = "v" }, "two queries have the Id v"},
		{func(d *alarm.Definition) { d.Queries[2].ID = "N" }, `the Id "N" of a query`},
		{func(d *alarm.Definition) { d.Queries[2].Period *= 2 }, "the query n has a period of 2m0s and another one 1m0s"},
		{func(d *alarm.Definition) { d.Queries[2].Metric.Name = "" }, "no metric with a namespace"},
		{func(d *alarm.Definition) { d.Queries[2].Expression = "v" }, "both an expression and a metric"},
		{func(d *alarm.Definition) { d.Queries = d.Queries[:1] }, "0 metrics: from 1 to 10"},
		{func(d *alarm.Definition) {
			for id := 'a'; id < 'i'; id++ {
				if id != 'e' {
					d.Queries = append(d.Queries, column(string(id)), column(string(id)+"2"))
				}
			}
		}, "16 metrics: from 1 to 10"},
		{func(d *alarm.Definition) { d.Queries[0].Expression = "v +" }, `expression "v +": it ends too early`},
		{func(d *alarm.Definition) {
			d.Queries = append(d.Queries, alarm.Query{ID: "unused", Expression: "w"})
		}, "w, which is the Id of no query"},
	} {
		d := two()
		row.change(&d)
		err := alarm.NewEvaluator(midnight, nil).Watch(d)
		if err == nil || !strings.HasPrefix(err.Error(), "alarm "+d.Name+": ") || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want an error with %q", err, row.want)
		}
	}
}

func TestDefinitionsThatAreNotImplemented(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		change func(d *alarm.Definition)
		want   string
	}{
		{func(d *alarm.Definition) { d.Other = []string{"ThresholdMetricId"} }, "the property ThresholdMetricId"},
		{func(d *alarm.Definition) { d.ComparisonOperator = "GreaterThanUpperThreshold" }, "which needs an anomaly band"},
		{func(d *alarm.Definition) { d.Queries[1].Statistic = "p99" }, `the statistic "p99"`},
		{func(d *alarm.Definition) { d.Queries[1].Period = 10 * time.Second }, "the period 10s"},
		{func(d *alarm.Definition) { d.Queries[1].Period = 48 * time.Hour }, "the period 48h0m0s"},
		{func(d *alarm.Definition) { d.EvaluationPeriods = 1441 }, "a window of more than 24h0m0s"},
		{func(d *alarm.Definition) {
			d.Queries[1].Metric.Namespace, d.TreatMissingData = "AWS/DynamoDB", "breaching"
		}, "TreatMissingData breaching for metrics of AWS/DynamoDB"},
	} {
		d := two()
		row.change(&d)
		err := alarm.NewEvaluator(midnight, nil).Watch(d)
		u, ok := errors.AsType[*alarm.UnsupportedError](err)
		if !ok || !strings.Contains(u.What, row.want) {
			t.Errorf("got %v, want %q not to be implemented", err, row.want)
		}
	}
}

func TestNamesDiffer(t *testing.T) {
	t.Parallel()
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, simple(1, 1, ""))
	if err := e.Watch(two()); err == nil || !strings.Contains(err.Error(), "there is one of that name") {
		t.Errorf("got %v, want a second alarm of the name to be refused", err)
	}
	if n := len(e.States()); n != 1 {
		t.Errorf("%d alarms, want 1", n)
	}
}

// Metrics of DynamoDB come with errors only, and AWS keeps the state meanwhile.
func TestDynamoDBKeepsTheState(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "")
	d.Queries[0].Metric.Namespace = "AWS/DynamoDB"
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	e.Add(alarm.Value(d.Queries[0].Metric, midnight, 1))
	if got := drawn(e.Advance(midnight.Add(time.Hour))); got != "ALARM@1" {
		t.Errorf("got %s, want ALARM for good", got)
	}
}
