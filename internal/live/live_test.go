//nolint:lll // a recorded answer is one line
package live_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	watch "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/check"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/live"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// The template that the stack was made of, as SAM translates it.
const template = `{"Parameters": {"Topic": {"Type": "String"}}, "Resources": {
 "Fn": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": 5, "Role": "arn:aws:iam::1:role/r",
   "LoggingConfig": {"LogFormat": "JSON"},
   "Environment": {"Variables": {"SQSAFE_TABLE": {"Ref": "Ledger"}, "SQSAFE_DLQ_URL": {"Ref": "Dead"}, "SQSAFE_MAX_RECEIVES": 30}}}},
 "Alias": {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionName": {"Ref": "Fn"}, "Name": "live"}},
 "FnJobs": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"EventSourceArn": {"Fn::GetAtt": ["Jobs", "Arn"]},
   "FunctionName": {"Ref": "Alias"}, "FunctionResponseTypes": ["ReportBatchItemFailures"], "ScalingConfig": {"MaximumConcurrency": 5}}},
 "Jobs": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 30,
   "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 30}}},
 "Dead": {"Type": "AWS::SQS::Queue", "DeletionPolicy": "Retain", "Properties": {"MessageRetentionPeriod": 1209600}},
 "Ledger": {"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Retain", "Properties": {
   "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
   "TimeToLiveSpecification": {"AttributeName": "expiration", "Enabled": true}}},
 "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmActions": [{"Ref": "Topic"}], "Namespace": "AWS/SQS",
   "MetricName": "ApproximateNumberOfMessagesVisible", "Dimensions": [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["Dead", "QueueName"]}}],
   "ComparisonOperator": "GreaterThanThreshold", "Threshold": 0}}}}`

// answers are recorded: what Lambda, CloudFormation and SNS say. The emulators
// answer for SQS, DynamoDB and CloudWatch.
type answers struct {
	emulators http.Handler
	url       string
	// What differs between tests.
	state, result, responses, running, subscription string
	executions                                      int
	second                                          string // another mapping on the queue
}

const (
	account     = "000000000000"
	queueARN    = "arn:aws:sqs:us-east-1:" + account + ":"
	functionARN = "arn:aws:lambda:us-east-1:" + account + ":function:"
	topicARN    = "arn:aws:sns:us-east-1:" + account + ":alarms"
)

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	mapping := fmt.Sprintf(`{"UUID": "u-1", "EventSourceArn": "%sjobs", "FunctionArn": "%sfn:live", "State": %q,`+
		`"LastProcessingResult": %q, "FunctionResponseTypes": [%s], "ScalingConfig": {"MaximumConcurrency": 5}}`,
		queueARN, functionARN, a.state, a.result, a.responses)
	const variables = `{"Environment": {"Variables": {"SQSAFE_TABLE": "ledger", "SQSAFE_MAX_RECEIVES": "%s"}}}`
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/event-source-mappings/u-1"):
		fmt.Fprint(w, mapping)
	case strings.Contains(path, "/event-source-mappings"):
		list := ""
		if strings.HasSuffix(r.URL.Query().Get("EventSourceArn"), ":jobs") {
			list = mapping + a.second
		}
		fmt.Fprintf(w, `{"EventSourceMappings": [%s]}`, list)
	case strings.Contains(path, "/configuration") && r.URL.Query().Get("Qualifier") == "live":
		fmt.Fprintf(w, variables, a.running)
	case strings.Contains(path, "/configuration"):
		fmt.Fprintf(w, variables, "30")
	case strings.Contains(path, "/account-settings"):
		fmt.Fprintf(w, `{"AccountLimit": {"ConcurrentExecutions": %d}}`, a.executions)
	case form.Get("Action") != "" && form.Get("Version") == "2010-05-15":
		a.formation(w, form.Get("Action"), form.Get("StackName"))
	case form.Get("Action") == "ListSubscriptionsByTopic":
		fmt.Fprintf(w, `<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">`+
			`<ListSubscriptionsByTopicResult><Subscriptions>%s</Subscriptions></ListSubscriptionsByTopicResult>`+
			`</ListSubscriptionsByTopicResponse>`, a.subscription)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.emulators.ServeHTTP(w, r)
	}
}

func (a *answers) formation(w http.ResponseWriter, action, stack string) {
	const space = `xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"`
	if stack != "app" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse %s><Error><Type>Sender</Type><Code>ValidationError</Code>`+
			`<Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`, space, stack)
		return
	}
	var result string
	switch action {
	case "DescribeStacks":
		result = `<Stacks><member><StackName>app</StackName><Parameters><member><ParameterKey>Topic</ParameterKey>` +
			`<ParameterValue>` + topicARN + `</ParameterValue></member></Parameters></member></Stacks>`
	case "GetTemplate":
		result = `<TemplateBody><![CDATA[` + template + `]]></TemplateBody>`
	case "ListStackResources":
		var all strings.Builder
		for _, r := range [][3]string{
			{"Fn", "AWS::Lambda::Function", "fn"}, {"FnJobs", "AWS::Lambda::EventSourceMapping", "u-1"},
			{"Jobs", "AWS::SQS::Queue", a.url + "/" + account + "/jobs"}, {"Dead", "AWS::SQS::Queue", a.url + "/" + account + "/dead"},
			{"Ledger", "AWS::DynamoDB::Table", "ledger"}, {"Alarm", "AWS::CloudWatch::Alarm", "alarm"},
		} {
			fmt.Fprintf(&all, `<member><LogicalResourceId>%s</LogicalResourceId><ResourceType>%s</ResourceType>`+
				`<PhysicalResourceId>%s</PhysicalResourceId></member>`, r[0], r[1], r[2])
		}
		result = `<StackResourceSummaries>` + all.String() + `</StackResourceSummaries>`
	}
	fmt.Fprintf(w, `<%[1]sResponse %[2]s><%[1]sResult>%[3]s</%[1]sResult></%[1]sResponse>`, action, space, result)
}

// world is a deployed stack in which nothing is wrong, unless change says so.
func world(t *testing.T, change func(*answers, map[string]string)) aws.Config {
	t.Helper()
	a := &answers{
		emulators: localaws.New(nil), state: "Enabled", result: "OK", responses: `"ReportBatchItemFailures"`, running: "30",
		subscription: `<member><SubscriptionArn>` + topicARN + `:1</SubscriptionArn></member>`, executions: 1000,
	}
	attributes := map[string]string{"VisibilityTimeout": "30"}
	if change != nil {
		change(a, attributes)
	}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.url = server.URL
	c := endpoint.Config(server.URL)
	queues, ctx := sqs.NewFromConfig(c), t.Context()
	attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + queueARN + `dead","maxReceiveCount":30}`
	for name, given := range map[string]map[string]string{"dead": {"MessageRetentionPeriod": "1209600"}} {
		if _, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: given}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs"), Attributes: attributes}); err != nil {
		t.Fatal(err)
	}
	makeTable(t, dynamodb.NewFromConfig(c))
	_, err := cloudwatch.NewFromConfig(c).PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("alarm"), Namespace: aws.String("AWS/SQS"), AlarmActions: []string{topicARN},
		MetricName: aws.String("ApproximateNumberOfMessagesVisible"), Statistic: watch.StatisticMaximum,
		Dimensions: []watch.Dimension{{Name: aws.String("QueueName"), Value: aws.String("dead")}},
		Period:     aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(0),
		ComparisonOperator: watch.ComparisonOperatorGreaterThanThreshold,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func makeTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	name, key := aws.String("ledger"), aws.String("id")
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: tables.BillingModePayPerRequest,
		KeySchema:            []tables.KeySchemaElement{{AttributeName: key, KeyType: tables.KeyTypeHash}},
		AttributeDefinitions: []tables.AttributeDefinition{{AttributeName: key, AttributeType: tables.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: name, TimeToLiveSpecification: &tables.TimeToLiveSpecification{
			AttributeName: aws.String("expiration"), Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestADeployedStackIsChecked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*answers, map[string]string)
		rules  []string
	}{
		{"as it should be", nil, nil},
		{"a mapping that cannot poll", func(a *answers, _ map[string]string) { a.result = "PROBLEM: access denied" }, []string{"E50"}},
		{"a disabled mapping", func(a *answers, _ map[string]string) { a.state = "Disabled" }, []string{"E50"}},
		{"a changed queue", func(_ *answers, q map[string]string) { q["VisibilityTimeout"] = "5" }, []string{"E51"}},
		{"no response types", func(a *answers, _ map[string]string) { a.responses = "" }, []string{"E52"}},
		{"a second function", func(a *answers, _ map[string]string) {
			a.second = `, {"UUID": "u-2", "State": "Enabled", "FunctionArn": "` + functionARN + `other"}`
		}, []string{"E53"}},
		{"an old version", func(a *answers, _ map[string]string) { a.running = "5" }, []string{"W54"}},
		{"a new account", func(a *answers, _ map[string]string) { a.executions = 4 }, []string{"W55"}},
		{"nobody has confirmed", func(a *answers, _ map[string]string) {
			a.subscription = `<member><SubscriptionArn>PendingConfirmation</SubscriptionArn></member>`
		}, []string{"W57"}},
		{"nobody has subscribed", func(a *answers, _ map[string]string) { a.subscription = "" }, []string{"W57"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stack, err := live.Read(t.Context(), world(t, tt.change), "app")
			if err != nil {
				t.Fatal(err)
			}
			report, err := check.CheckLive(&stack.Live, stack.Template, stack.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range report.Findings {
				rules = append(rules, f.Rule)
			}
			if !slices.Equal(rules, tt.rules) {
				t.Errorf("breaks %v, want %v: %+v", rules, tt.rules, report.Findings)
			}
		})
	}
}

func TestAStackThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := live.Read(t.Context(), world(t, nil), "other")
	if err == nil || !strings.Contains(err.Error(), "Stack with id other does not exist") {
		t.Errorf("error %v", err)
	}
}
