package localaws_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

// A refusal is an error that the SDK prints, and it is not tried again.
func TestARefusalIsAnErrorOfTheSDK(t *testing.T) {
	t.Parallel()
	calls := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		localaws.Refuse(w, r, "ForeignHost", "no")
	}))
	defer web.Close()
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: &web.URL, HTTPClient: web.Client(),
	}
	_, ofSQS := sqs.NewFromConfig(cfg).ListQueues(t.Context(), nil)
	_, ofDynamoDB := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil)
	_, ofCloudWatch := cloudwatch.NewFromConfig(cfg).ListDashboards(t.Context(), nil)
	for service, err := range map[string]error{"SQS": ofSQS, "DynamoDB": ofDynamoDB, "CloudWatch": ofCloudWatch} {
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "ForeignHost" || api.ErrorMessage() != "no" ||
			!strings.Contains(err.Error(), "403") {
			t.Errorf("%s: %v", service, err)
		}
	}
	if calls != 3 {
		t.Errorf("%d calls, want one of each service", calls)
	}
}

// Older clients read XML alone.
func TestARefusalInTheQueryProtocol(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/", strings.NewReader("Action=ListQueues"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	localaws.Refuse(answer, r, "ForeignHost", "no")
	if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "<Code>ForeignHost</Code>") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
