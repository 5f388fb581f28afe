package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/handler"
)

func TestAWorkerNeedsAClientWithAnEndpoint(t *testing.T) {
	t.Parallel()
	nowhere := "nowhere"
	for says, client := range map[string]*sqs.Client{
		"the client is nil": nil, `"nowhere"`: sqs.New(sqs.Options{BaseEndpoint: &nowhere}),
	} {
		if _, err := New(client, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %s", err, says)
		}
	}
}

func TestMetricsLeaveTheHookOfTheOptionsInPlace(t *testing.T) {
	t.Parallel()
	told := 0
	var o sqsafe.Options
	o.Hooks.OnBatch = func(context.Context, handler.Report) { told++ }
	w, err := New(sqs.New(sqs.Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.publisher = &publisher{}
	w.measure(&o)
	o.Hooks.OnBatch(t.Context(), handler.Report{Messages: 1})
	if told != 1 || len(w.publisher.all) == 0 {
		t.Errorf("the hook was called %d times, %d series gathered", told, len(w.publisher.all))
	}
	o = sqsafe.Options{}
	w.measure(&o)
	o.Hooks.OnBatch(t.Context(), handler.Report{Messages: 1}) // no hook, no panic
}
