package local

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localguard/guardtest"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// A web page can neither read nor change what the emulators hold, and does not learn that
// they are there.
func TestAPageCannotUseTheEmulators(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Stack{listener: listener, template: &stack.Stack{}}
	s.connect()
	web := s.serve()
	defer func() { _ = web.Close() }()
	call := func(header, value, body string) guardtest.Target {
		return guardtest.Target{URL: s.endpoint(), Header: map[string]string{header: value}, Body: body}
	}
	for name, target := range map[string]guardtest.Target{
		"SQS":        call("X-Amz-Target", "AmazonSQS.CreateQueue", `{"QueueName":"planted"}`),
		"DynamoDB":   call("X-Amz-Target", "DynamoDB_20120810.CreateTable", table),
		"CloudWatch": call("X-Amz-Target", "GraniteServiceVersion20100801.ListDashboards", `{}`),
		"ages":       {Method: http.MethodGet, URL: s.endpoint() + agesPath},
		"no page":    {Method: http.MethodGet, URL: s.endpoint()},
		"query": {
			URL: s.endpoint() + "/?Action=ListQueues", Body: "Action=ListQueues",
			Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		},
	} {
		t.Log(name)
		guardtest.Refuses(t, target)
	}
	queues, err := s.queues.ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil || len(queues.QueueUrls) > 0 {
		t.Errorf("queues %v, error %v", queues, err)
	}
	tables, err := s.tables.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || len(tables.TableNames) > 0 {
		t.Errorf("tables %v, error %v", tables, err)
	}
	status, body := guardtest.Send(t, call("X-Amz-Target", "AmazonSQS.CreateQueue", `{"QueueName":"own"}`))
	if status != http.StatusOK {
		t.Errorf("a program of this machine: %d %s", status, body)
	}
}

const table = `{"TableName":"planted","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`
