package cloudwatch_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/cloudwatch"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// An expression is computed, to numbers that JSON has, or refused.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"v", "v + FILL(v, 0)", "DIFF(v + FILL(v,0))", "-(v*2)^.5/1e3", "FILL(v", "((((", "v v", "RATE(v)", "1", "e", "é",
		"0^-1*v",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		s := cloudwatch.New(nil)
		operate := func(operation string, in any) (any, error) {
			body, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			return s.Operate(t.Context(), &protocol.Request{Operation: operation, Body: body})
		}
		type object = map[string]any
		datum := object{"MetricName": "m", "Value": 3}
		if _, err := operate("PutMetricData", object{"Namespace": "N", "MetricData": []any{datum}}); err != nil {
			t.Fatal(err)
		}
		now := protocol.SystemClock{}.Now().Unix()
		out, err := operate("GetMetricData", object{
			"StartTime": now - 600, "EndTime": now + 60,
			"MetricDataQueries": []any{
				object{"Id": "e", "Expression": expression},
				object{"Id": "v", "MetricStat": object{
					"Metric": object{"Namespace": "N", "MetricName": "m"}, "Period": 60, "Stat": "Sum",
				}},
			},
		})
		if err != nil {
			if _, ok := errors.AsType[*protocol.Error](err); !ok {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		text, err := json.Marshal(out)
		var read struct{ MetricDataResults []struct{ Values []float64 } }
		if err != nil || json.Unmarshal(text, &read) != nil {
			t.Fatalf("%q: %s (%v)", expression, text, err)
		}
		for _, v := range read.MetricDataResults[0].Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q gives %v", expression, v)
			}
		}
	})
}
