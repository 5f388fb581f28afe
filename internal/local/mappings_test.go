package local

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const (
	chargeARN = "arn:aws:lambda:us-east-1:1:function:charge"
	ordersARN = "arn:aws:sqs:us-east-1:1:orders"
)

// A mapping that is disabled lets its batches end, and polls again when it is enabled.
func TestAMappingPollsWhileItIsEnabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newSourceMapping(chargeARN, ordersARN, stack.SQSEvent{Name: "Jobs"})
		polls, told := 0, []bool{}
		m.told = func(enabled bool) { told = append(told, enabled) }
		m.poll = func(ctx context.Context) error {
			polls++
			<-ctx.Done()
			<-time.After(time.Minute) // a batch that runs
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { m.work(ctx); close(ended) }()
		is := func(state string, n int) {
			t.Helper()
			synctest.Wait()
			if got, _ := m.state(); got != state || polls != n {
				t.Errorf("%s after %d polls, want %s after %d", got, polls, state, n)
			}
		}
		is(stateDisabled, 0)
		m.set(true)
		m.set(true)
		is(stateEnabled, 1)
		m.set(false)
		is(stateDisabling, 1)
		<-time.After(2 * time.Minute)
		is(stateDisabled, 1)
		m.set(true)
		is(stateEnabled, 2)
		m.set(false)
		m.set(true) // before its batches have ended
		<-time.After(2 * time.Minute)
		is(stateEnabled, 3)
		cancel()
		<-ended
		if len(told) != 5 {
			t.Errorf("told %v", told)
		}
	})
}

func TestAMappingThatCannotPollIsDisabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newSourceMapping(chargeARN, ordersARN, stack.SQSEvent{Enabled: true})
		m.poll = func(context.Context) error { return errors.New("batch size 0") }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.work(ctx)
		synctest.Wait()
		if state, _ := m.state(); state != stateDisabled {
			t.Errorf("state %s", state)
		}
	})
}

// The calls of Lambda's API answer the client of AWS.
func TestLambdaAPI(t *testing.T) {
	t.Parallel()
	one := newSourceMapping(chargeARN, ordersARN, stack.SQSEvent{
		BatchSize: 7, Window: 2 * time.Second, MaximumConcurrency: 3, ReportBatchItemFailures: true,
	})
	other := newSourceMapping(chargeARN, ordersARN+"-2", stack.SQSEvent{BatchSize: 10})
	other.told, one.told = func(bool) {}, func(bool) {}
	mux := http.NewServeMux()
	lambdaAPI{one, other}.register(mux)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	client := lambda.NewFromConfig(endpoint.Config(web.URL))

	all, err := client.ListEventSourceMappings(t.Context(), &lambda.ListEventSourceMappingsInput{})
	if err != nil || len(all.EventSourceMappings) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	found, err := client.ListEventSourceMappings(t.Context(), &lambda.ListEventSourceMappingsInput{
		EventSourceArn: aws.String(ordersARN), FunctionName: aws.String("charge"),
	})
	if err != nil || len(found.EventSourceMappings) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	m := found.EventSourceMappings[0]
	if *m.State != stateDisabled || *m.BatchSize != 7 || *m.MaximumBatchingWindowInSeconds != 2 ||
		*m.FunctionArn != chargeARN || *m.ScalingConfig.MaximumConcurrency != 3 || len(m.FunctionResponseTypes) != 1 ||
		time.Since(*m.LastModified) > time.Minute {
		t.Errorf("mapping %+v", m)
	}
	set, err := client.UpdateEventSourceMapping(t.Context(), &lambda.UpdateEventSourceMappingInput{
		UUID: m.UUID, Enabled: aws.Bool(true),
	})
	if err != nil || *set.State != stateEnabling {
		t.Errorf("%+v, %v", set, err)
	}
	got, err := client.GetEventSourceMapping(t.Context(), &lambda.GetEventSourceMappingInput{UUID: m.UUID})
	if err != nil || *got.State != stateEnabling {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = client.GetEventSourceMapping(t.Context(), &lambda.GetEventSourceMappingInput{UUID: aws.String("none")})
	if missing, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok || missing == nil {
		t.Errorf("%v", err)
	}
	_, err = client.UpdateEventSourceMapping(t.Context(), &lambda.UpdateEventSourceMappingInput{
		UUID: m.UUID, BatchSize: aws.Int32(3),
	})
	wrong, ok := errors.AsType[*types.InvalidParameterValueException](err)
	if !ok || !strings.Contains(wrong.Error(), "BatchSize") {
		t.Errorf("%v", err)
	}
	_, err = client.DeleteEventSourceMapping(t.Context(), &lambda.DeleteEventSourceMappingInput{UUID: m.UUID})
	if err == nil || !strings.Contains(err.Error(), "the local stack has") {
		t.Errorf("%v", err)
	}
}
