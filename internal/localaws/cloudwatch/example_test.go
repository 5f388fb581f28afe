package cloudwatch_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/cloudwatch"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func Example() {
	ctx, s := context.Background(), cloudwatch.New(nil)
	_, err := s.Operate(ctx, &protocol.Request{
		Operation: "PutMetricData", Body: []byte(`{"Namespace":"Jobs","MetricData":[{"MetricName":"Dead","Value":1}]}`),
	})
	fmt.Println(err)
	out, err := s.Operate(ctx, &protocol.Request{Operation: "ListMetrics", Body: []byte(`{}`)})
	text, _ := json.Marshal(out)
	fmt.Println(string(text), err)
	// Output:
	// <nil>
	// {"Metrics":[{"Namespace":"Jobs","MetricName":"Dead","Dimensions":[]}]} <nil>
}
