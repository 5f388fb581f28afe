package alarm_test

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

func ExampleEvaluator() {
	deep := alarm.Metric{Namespace: "AWS/SQS", Name: "ApproximateNumberOfMessagesVisible"}
	start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	e := alarm.NewEvaluator(start, nil)
	err := e.Watch(alarm.Definition{
		Name: "Arrivals",
		Queries: []alarm.Query{
			{ID: "arrivals", Expression: "DIFF(v)", ReturnData: true},
			{ID: "v", Metric: deep, Statistic: "Maximum", Period: time.Minute},
		},
		ComparisonOperator: "GreaterThanThreshold", EvaluationPeriods: 1, TreatMissingData: "notBreaching",
		AlarmActions: []string{"mail"},
	})
	if err != nil {
		fmt.Println(err)
	}
	for minute, depth := range []float64{0, 0, 3, 3} {
		at := start.Add(time.Duration(minute) * time.Minute)
		e.Add(alarm.Value(deep, at, depth))
		for _, t := range e.Advance(at.Add(time.Minute)) {
			fmt.Println(t.At.Format("15:04"), t.Name, t.From, "to", t.To, t.Actions)
		}
	}
	// Output:
	// 09:01 Arrivals INSUFFICIENT_DATA to OK []
	// 09:03 Arrivals OK to ALARM [mail]
	// 09:04 Arrivals ALARM to OK []
}
