package worker

import (
	"context"
	"errors"
	"os"
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

// TestAllThatIsMissingIsNamedAtOnce starts a worker with an empty environment.
func TestAllThatIsMissingIsNamedAtOnce(t *testing.T) {
	for _, name := range []string{
		"AWS_REGION", "AWS_DEFAULT_REGION", queueVariable, "SQSAFE_TABLE", "SQSAFE_DLQ_URL", "SQSAFE_MAX_RECEIVES",
		namespaceVariable, "AWS_PROFILE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv(batchesVariable, "none")
	t.Setenv(namespaceVariable, "AWS/mine")
	err := start(t.Context(), func(context.Context, string) error { return nil }, nil)
	for _, name := range []string{
		queueVariable, "AWS_REGION", "SQSAFE_TABLE", "SQSAFE_DLQ_URL", "SQSAFE_MAX_RECEIVES", batchesVariable,
		namespaceVariable,
	} {
		if n := strings.Count(err.Error(), "environment variable "+name+" "); n != 1 {
			t.Errorf("%s is named %d times in:\n%v", name, n, err)
		}
	}
	if !errors.As(err, new(*sqsafe.MissingError)) {
		t.Errorf("error %T", err)
	}
}
