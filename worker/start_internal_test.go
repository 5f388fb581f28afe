package worker

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/handler"
)

func TestMetricsLeaveTheHookOfTheOptionsInPlace(t *testing.T) {
	t.Parallel()
	told := 0
	var o sqsafe.Options
	o.Hooks.OnBatch = func(context.Context, handler.Report) { told++ }
	w := New(sqs.New(sqs.Options{}), nil)
	w.publisher = &publisher{}
	w.measured(&o)
	o.Hooks.OnBatch(t.Context(), handler.Report{Messages: 1})
	if told != 1 || len(w.publisher.all) == 0 {
		t.Errorf("the hook was called %d times, %d series gathered", told, len(w.publisher.all))
	}
	o = sqsafe.Options{}
	w.measured(&o)
	o.Hooks.OnBatch(t.Context(), handler.Report{Messages: 1}) // no hook, no panic
}
