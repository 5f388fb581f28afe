package conformance_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

var cwLimitChecks = []check[*cwEnv]{
	{
		id:  "cw/limits/31-dimensions-rejected",
		doc: "A metric has 30 dimensions at most.",
		run: func(t T, e *cwEnv) {
			var ds []types.Dimension
			for i := range 31 {
				ds = append(ds, types.Dimension{Name: aws.String(fmt.Sprint("d", i)), Value: aws.String("v")})
			}
			_, err := e.c.PutMetricData(
				t.Context(),
				&cloudwatch.PutMetricDataInput{
					Namespace:  aws.String(unique("NS")),
					MetricData: []types.MetricDatum{{MetricName: aws.String("M"), Dimensions: ds, Value: aws.Float64(1)}},
				},
			)
			wantRejected(t, err)
		},
	},
	{
		id:        "cw/limits/reserved-namespace-rejected",
		doc:       "PutMetricData to a namespace that begins with AWS/ is rejected.",
		debatable: "the documentation says that one should not use such a namespace",
		run: func(t T, e *cwEnv) {
			wantRejected(t, e.put(t, "AWS/"+strings.ToUpper(unique("x")), "M", time.Time{}, 1))
		},
	},
}
