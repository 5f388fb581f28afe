package stack

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

const repositoryTemplate = "../../template.yaml"

func readRepository(t *testing.T, parameters map[string]string) *Stack {
	t.Helper()
	s, err := Read(repositoryTemplate, &Options{Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// repositoryNode gives a part of the template itself, with functions unresolved.
func repositoryNode(t *testing.T, path ...string) *yaml.Node {
	t.Helper()
	data, err := os.ReadFile(repositoryTemplate)
	if err != nil {
		t.Fatal(err)
	}
	n, err := load(repositoryTemplate, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range path {
		if n = member(n, name); n == nil {
			t.Fatalf("the template has no %v", path)
		}
	}
	return n
}

// value gives a scalar member's text, or a function's as "Name argument".
func value(n *yaml.Node, name string) string {
	v := member(n, name)
	if v == nil {
		return ""
	}
	if function, argument := intrinsic(v); function != "" {
		return function + " " + argument.Value
	}
	return v.Value
}

func TestRepositoryQueues(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	source, _ := s.Queue("ChargeQueue")
	dead, _ := s.Queue("ChargeDeadLetterQueue")
	want := map[string]string{
		"VisibilityTimeout":      "180",
		"MessageRetentionPeriod": "345600",
		"SqsManagedSseEnabled":   "true",
		"RedrivePolicy":          `{"deadLetterTargetArn":"` + dead.ARN + `","maxReceiveCount":30}`,
	}
	if diff := cmp.Diff(want, source.Attributes); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	want = map[string]string{
		"MessageRetentionPeriod": "1209600",
		"SqsManagedSseEnabled":   "true",
		"RedriveAllowPolicy":     `{"redrivePermission":"byQueue","sourceQueueArns":["` + source.ARN + `"]}`,
	}
	if diff := cmp.Diff(want, dead.Attributes); diff != "" {
		t.Errorf("dead-letter queue (-want +got):\n%s", diff)
	}
	if source.FIFO != dead.FIFO {
		t.Errorf("types differ: source FIFO %t, dead-letter queue FIFO %t", source.FIFO, dead.FIFO)
	}
}

func TestRepositoryDeadLetterQueueFollowsTheSourcesName(t *testing.T) {
	t.Parallel()
	s := readRepository(t, map[string]string{"QueueName": "shop-charges"})
	source, _ := s.Queue("ChargeQueue")
	dead, _ := s.Queue("ChargeDeadLetterQueue")
	want := `{"redrivePermission":"byQueue","sourceQueueArns":["` + source.ARN + `"]}`
	if got := dead.Attributes["RedriveAllowPolicy"]; source.Name != "shop-charges" || got != want {
		t.Errorf("source %s, RedriveAllowPolicy %s, want %s", source.Name, got, want)
	}
}

func TestRepositoryVisibilityCoversSixRuns(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	f := s.Functions[0]
	window := f.Events[0].Window
	visibility, err := time.ParseDuration(s.Queues[0].Attributes["VisibilityTimeout"] + "s")
	if err != nil {
		t.Fatal(err)
	}
	if least := 6*f.Timeout + window; visibility < least {
		t.Errorf("visibility timeout %v, want at least six times the timeout and the window: %v", visibility, least)
	}
}

func TestRepositoryFunction(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	want := Function{
		LogicalID: "ChargeFunction", Name: "ChargeFunction",
		Handler: "bootstrap", Runtime: "provided.al2023",
		BuildMethod: "go1.x",
		Timeout:     30 * time.Second, MemoryMB: 128,
		Environment: map[string]string{
			"SQSAFE_TABLE": "LedgerTable", "SQSAFE_DLQ_URL": s.Queues[1].URL,
			"SQSAFE_MAX_RECEIVES": "30", "SQSAFE_MAX_ATTEMPTS": "8", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "3",
			"PAYMENT_URL": "https://payments.example.com",
		},
		Events: []SQSEvent{{
			Name: "Charge", Queue: "ChargeQueue", BatchSize: 10,
			ReportBatchItemFailures: true, MaximumConcurrency: 5, Enabled: true,
		}},
	}
	got := s.Functions[0]
	got.CodeURI, got.ARN = "", "" // the machine's
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("function (-want +got):\n%s", diff)
	}
	if declared := repositoryNode(t, "Resources", "ChargeFunction", "Properties", "Environment", "Variables",
		"AWS_ENDPOINT_URL"); !isIntrinsic(declared) {
		t.Error("AWS_ENDPOINT_URL is not under a condition")
	}
}

func TestRepositoryParametersReachTheirPlaces(t *testing.T) {
	t.Parallel()
	s := readRepository(t, map[string]string{
		"MaxReceiveCount": "12", "MaxAttempts": "4", "UnclassifiedAttempts": "2", "FunctionTimeout": "1",
		"VisibilityTimeout": "6", "MaximumConcurrency": "2", "PaymentUrl": "http://127.0.0.1:9000",
		"EndpointUrl": "http://127.0.0.1:4570",
	})
	f, source := s.Functions[0], s.Queues[0]
	for name, want := range map[string]string{
		"SQSAFE_MAX_RECEIVES": "12", "SQSAFE_MAX_ATTEMPTS": "4", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "2",
		"PAYMENT_URL": "http://127.0.0.1:9000", "AWS_ENDPOINT_URL": "http://127.0.0.1:4570",
	} {
		if f.Environment[name] != want {
			t.Errorf("%s = %q, want %q", name, f.Environment[name], want)
		}
	}
	if source.MaxReceiveCount != 12 || source.Attributes["VisibilityTimeout"] != "6" {
		t.Errorf("source %+v, want 12 receives and a visibility timeout of 6 s", source)
	}
	if f.Timeout != time.Second || f.Events[0].MaximumConcurrency != 2 {
		t.Errorf("timeout %v, concurrency %d, want 1s and 2", f.Timeout, f.Events[0].MaximumConcurrency)
	}
}

func TestRepositoryTable(t *testing.T) {
	t.Parallel()
	want := []Table{{
		LogicalID: "LedgerTable", Name: "LedgerTable",
		ARN:        "arn:aws:dynamodb:us-east-1:123456789012:table/LedgerTable",
		Keys:       []Key{{Name: "id", Type: "HASH"}},
		Attributes: []Attribute{{Name: "id", Type: "S"}}, TTLAttribute: "expiration",
	}}
	if diff := cmp.Diff(want, readRepository(t, nil).Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	properties := repositoryNode(t, "Resources", "LedgerTable", "Properties")
	if got := value(properties, "BillingMode"); got != "PAY_PER_REQUEST" {
		t.Errorf("BillingMode %q", got)
	}
	recovery := member(properties, "PointInTimeRecoverySpecification")
	if got := value(recovery, "PointInTimeRecoveryEnabled"); got != "true" {
		t.Errorf("point-in-time recovery %q", got)
	}
}

// TestRepositoryRights holds that the function may do what it does and no more.
func TestRepositoryRights(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"ChargeQueue.Arn": {
			"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
		},
		"ChargeDeadLetterQueue.Arn": {"sqs:SendMessage"},
		"LedgerTable.Arn":           {"dynamodb:UpdateItem"},
		"ChargeLogGroup.Arn":        {"logs:CreateLogStream", "logs:PutLogEvents"},
	}
	got := map[string][]string{}
	for _, policy := range repositoryNode(t, "Resources", "ChargeRole", "Properties", "Policies").Content {
		for _, statement := range member(member(policy, "PolicyDocument"), "Statement").Content {
			_, resource := intrinsic(member(statement, "Resource"))
			actions := member(statement, "Action")
			if actions.Kind == yaml.ScalarNode {
				actions = sequence([]string{actions.Value}, actions)
			}
			for _, action := range actions.Content {
				got[resource.Value] = append(got[resource.Value], action.Value)
			}
			slices.Sort(got[resource.Value])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}

func TestRepositoryAlarms(t *testing.T) {
	t.Parallel()
	type alarm struct{ Expression, Operator, Threshold, Missing string }
	want := map[string]alarm{
		"DeadLettersNotEmptyAlarm": {"v + FILL(n,0)", "GreaterThanThreshold", "0", "ignore"},
		"DeadLetterArrivalsAlarm":  {"DIFF(v + FILL(n,0))", "GreaterThanThreshold", "0", "notBreaching"},
		"DeadLetterFloodAlarm": {
			"DIFF(v + FILL(n,0))", "GreaterThanOrEqualToThreshold", "Ref FloodThreshold", "notBreaching",
		},
	}
	got := map[string]alarm{}
	for _, r := range entries(repositoryNode(t, "Resources")) {
		if value(r.value, "Type") != "AWS::CloudWatch::Alarm" {
			continue
		}
		p := member(r.value, "Properties")
		got[r.key.Value] = alarm{
			checkMetrics(t, r.key.Value, member(p, "Metrics")),
			value(p, "ComparisonOperator"), value(p, "Threshold"), value(p, "TreatMissingData"),
		}
		if value(p, "EvaluationPeriods") != "1" || value(p, "DatapointsToAlarm") != "1" {
			t.Errorf("%s does not fire at 1 of 1 periods", r.key.Value)
		}
		if actions := member(p, "AlarmActions"); actions == nil || len(actions.Content) == 0 {
			t.Errorf("%s tells nobody", r.key.Value)
		}
		if text := value(p, "AlarmDescription"); len(text) < 100 || len(text) > 1024 { // CloudWatch's most
			t.Errorf("%s: a description of %d bytes", r.key.Value, len(text))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
	if preset := value(repositoryNode(t, "Parameters", "FloodThreshold"), "Default"); preset != "10" {
		t.Errorf("flood threshold %s, want 10", preset)
	}
}

// checkMetrics gives the one expression of an alarm that returns data, once the
// metrics below it are the dead-letter queue's.
func checkMetrics(t *testing.T, name string, metrics *yaml.Node) string {
	t.Helper()
	var expressions []string
	sources := map[string]string{}
	for _, m := range metrics.Content {
		stat := member(m, "MetricStat")
		if stat == nil {
			expressions = append(expressions, value(m, "Expression"))
			continue
		}
		metric := member(stat, "Metric")
		sources[value(m, "Id")] = value(metric, "MetricName")
		queue := value(member(metric, "Dimensions").Content[0], "Value")
		if queue != "Fn::GetAtt ChargeDeadLetterQueue.QueueName" || value(m, "ReturnData") != "false" {
			t.Errorf("%s: metric %s of %q, ReturnData %q", name, value(m, "Id"), queue, value(m, "ReturnData"))
		}
		if value(stat, "Period") != "60" || value(stat, "Stat") != "Maximum" {
			t.Errorf("%s: %s over %s s, want Maximum over 60 s", name, value(stat, "Stat"), value(stat, "Period"))
		}
	}
	want := map[string]string{
		"v": "ApproximateNumberOfMessagesVisible", "n": "ApproximateNumberOfMessagesNotVisible",
	}
	if !maps.Equal(sources, want) || len(expressions) != 1 {
		t.Fatalf("%s: metrics %v and expressions %q", name, sources, expressions)
	}
	return expressions[0]
}
