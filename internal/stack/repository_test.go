package stack

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
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
	n, _, err := load(repositoryTemplate, data)
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
	for _, tt := range []struct {
		prefix, receives  string
		source, deadQueue map[string]string // what only FIFO queues have
	}{
		{prefix: "Charge", receives: "30"},
		{
			prefix: "Stock", receives: "200",
			source:    map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"},
			deadQueue: map[string]string{"FifoQueue": "true"},
		},
		{prefix: "Notify", receives: "30"},
	} {
		source, _ := s.Queue(tt.prefix + "Queue")
		dead, _ := s.Queue(tt.prefix + "DeadLetterQueue")
		want := map[string]string{
			"VisibilityTimeout":      "180",
			"MessageRetentionPeriod": "345600",
			"SqsManagedSseEnabled":   "true",
			"RedrivePolicy":          `{"deadLetterTargetArn":"` + dead.ARN + `","maxReceiveCount":` + tt.receives + `}`,
		}
		maps.Copy(want, tt.source)
		if diff := cmp.Diff(want, source.Attributes); diff != "" {
			t.Errorf("%s: source (-want +got):\n%s", tt.prefix, diff)
		}
		want = map[string]string{
			"MessageRetentionPeriod": "1209600",
			"SqsManagedSseEnabled":   "true",
			"RedriveAllowPolicy":     `{"redrivePermission":"byQueue","sourceQueueArns":["` + source.ARN + `"]}`,
		}
		maps.Copy(want, tt.deadQueue)
		if diff := cmp.Diff(want, dead.Attributes); diff != "" {
			t.Errorf("%s: dead-letter queue (-want +got):\n%s", tt.prefix, diff)
		}
	}
}

func TestRepositoryDeadLetterQueueFollowsTheSourcesName(t *testing.T) {
	t.Parallel()
	s := readRepository(t, map[string]string{
		"QueueName": "shop-charges", "StockQueueName": "shop-stock.fifo", "NotifyQueueName": "shop-notices",
	})
	for prefix, name := range map[string]string{
		"Charge": "shop-charges", "Stock": "shop-stock.fifo", "Notify": "shop-notices",
	} {
		source, _ := s.Queue(prefix + "Queue")
		dead, _ := s.Queue(prefix + "DeadLetterQueue")
		want := `{"redrivePermission":"byQueue","sourceQueueArns":["` + source.ARN + `"]}`
		if got := dead.Attributes["RedriveAllowPolicy"]; source.Name != name || got != want {
			t.Errorf("source %s, RedriveAllowPolicy %s, want %s", source.Name, got, want)
		}
	}
}

func TestRepositoryVisibilityCoversSixRuns(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	for _, f := range s.Functions {
		source, _ := s.Queue(f.Events[0].Queue)
		visibility, err := time.ParseDuration(source.Attributes["VisibilityTimeout"] + "s")
		if err != nil {
			t.Fatal(err)
		}
		if least := 6*f.Timeout + f.Events[0].Window; visibility < least {
			t.Errorf("%s: visibility timeout %v, want at least six times the timeout and the window: %v",
				source.LogicalID, visibility, least)
		}
	}
}

func TestRepositoryFunctions(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	var want []Function
	for _, f := range []struct{ prefix, receives, own, value string }{
		{"Charge", "30", "PAYMENT_URL", "https://payments.example.com"},
		{"Stock", "200", "STOCK_TABLE", "StockTable"},
		{"Notify", "30", "NOTIFY_URL", "https://messages.example.com"},
	} {
		dead, _ := s.Queue(f.prefix + "DeadLetterQueue")
		want = append(want, Function{
			LogicalID: f.prefix + "Function", Name: f.prefix + "Function",
			Handler: "bootstrap", Runtime: "provided.al2023",
			BuildMethod: "go1.x",
			Timeout:     30 * time.Second, MemoryMB: 128,
			Environment: map[string]string{
				"SQSAFE_TABLE": "LedgerTable", "SQSAFE_DLQ_URL": dead.URL,
				"SQSAFE_MAX_RECEIVES": f.receives, "SQSAFE_MAX_ATTEMPTS": "8", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "3",
				f.own: f.value,
			},
			Events: []SQSEvent{{
				Name: f.prefix, Queue: f.prefix + "Queue", BatchSize: 10,
				ReportBatchItemFailures: true, MaximumConcurrency: 5, Enabled: true,
			}},
		})
		if declared := repositoryNode(t, "Resources", f.prefix+"Function", "Properties", "Environment", "Variables",
			"AWS_ENDPOINT_URL"); !isIntrinsic(declared) {
			t.Errorf("%s: AWS_ENDPOINT_URL is not under a condition", f.prefix)
		}
	}
	got := slices.Clone(s.Functions)
	for i := range got {
		got[i].CodeURI, got[i].ARN = "", "" // the machine's
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

func TestRepositoryParametersReachTheirPlaces(t *testing.T) {
	t.Parallel()
	s := readRepository(t, map[string]string{
		"MaxReceiveCount": "12", "FifoMaxReceiveCount": "120", "MaxAttempts": "4", "UnclassifiedAttempts": "2",
		"FunctionTimeout": "1", "VisibilityTimeout": "6", "MaximumConcurrency": "2",
		"PaymentUrl": "http://127.0.0.1:9000", "NotifyUrl": "http://127.0.0.1:9001",
		"EndpointUrl": "http://127.0.0.1:4570",
	})
	receives := map[string]int{"ChargeQueue": 12, "StockQueue": 120, "NotifyQueue": 12}
	for _, f := range s.Functions {
		source, _ := s.Queue(f.Events[0].Queue)
		for name, want := range map[string]string{
			"SQSAFE_MAX_RECEIVES": strconv.Itoa(receives[source.LogicalID]),
			"SQSAFE_MAX_ATTEMPTS": "4", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "2",
			"AWS_ENDPOINT_URL": "http://127.0.0.1:4570",
		} {
			if f.Environment[name] != want {
				t.Errorf("%s: %s = %q, want %q", f.Name, name, f.Environment[name], want)
			}
		}
		if source.MaxReceiveCount != receives[source.LogicalID] || source.Attributes["VisibilityTimeout"] != "6" {
			t.Errorf("source %+v, want %d receives and a visibility timeout of 6 s", source, receives[source.LogicalID])
		}
		if f.Timeout != time.Second || f.Events[0].MaximumConcurrency != 2 {
			t.Errorf("%s: timeout %v, concurrency %d, want 1s and 2", f.Name, f.Timeout, f.Events[0].MaximumConcurrency)
		}
	}
	for i, want := range map[int]string{0: "PAYMENT_URL=http://127.0.0.1:9000", 2: "NOTIFY_URL=http://127.0.0.1:9001"} {
		name, value, _ := strings.Cut(want, "=")
		if got := s.Functions[i].Environment[name]; got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
}

func TestRepositoryTables(t *testing.T) {
	t.Parallel()
	table := func(name, key, ttl string) Table {
		return Table{
			LogicalID: name, Name: name,
			ARN:        "arn:aws:dynamodb:us-east-1:123456789012:table/" + name,
			Keys:       []Key{{Name: key, Type: "HASH"}},
			Attributes: []Attribute{{Name: key, Type: "S"}}, TTLAttribute: ttl,
		}
	}
	want := []Table{table("LedgerTable", "id", "expiration"), table("StockTable", "sku", "")}
	if diff := cmp.Diff(want, readRepository(t, nil).Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	for _, table := range want {
		properties := repositoryNode(t, "Resources", table.LogicalID, "Properties")
		if got := value(properties, "BillingMode"); got != "PAY_PER_REQUEST" {
			t.Errorf("%s: BillingMode %q", table.Name, got)
		}
		recovery := member(properties, "PointInTimeRecoverySpecification")
		if got := value(recovery, "PointInTimeRecoveryEnabled"); got != "true" {
			t.Errorf("%s: point-in-time recovery %q", table.Name, got)
		}
	}
}

// TestRepositoryRights holds that each function may do what it does and no more.
func TestRepositoryRights(t *testing.T) {
	t.Parallel()
	for prefix, own := range map[string]map[string][]string{
		"Charge": nil,
		"Stock":  {"StockTable.Arn": {"dynamodb:UpdateItem"}},
		"Notify": nil,
	} {
		want := map[string][]string{
			prefix + "Queue.Arn": {
				"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
			},
			prefix + "DeadLetterQueue.Arn": {"sqs:SendMessage"},
			"LedgerTable.Arn":              {"dynamodb:UpdateItem"},
			prefix + "LogGroup.Arn":        {"logs:CreateLogStream", "logs:PutLogEvents"},
		}
		maps.Copy(want, own)
		if diff := cmp.Diff(want, rights(t, prefix+"Role")); diff != "" {
			t.Errorf("%s: rights (-want +got):\n%s", prefix, diff)
		}
		function := repositoryNode(t, "Resources", prefix+"Function", "Properties")
		if role := value(function, "Role"); role != "Fn::GetAtt "+prefix+"Role.Arn" {
			t.Errorf("%s has the role %s", prefix, role)
		}
		log := member(function, "LoggingConfig")
		if group := value(log, "LogGroup"); group != "Ref "+prefix+"LogGroup" {
			t.Errorf("%s logs to %s", prefix, group)
		}
	}
}

// rights gives the actions that a role allows, by resource.
func rights(t *testing.T, role string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, policy := range repositoryNode(t, "Resources", role, "Properties", "Policies").Content {
		for _, statement := range member(member(policy, "PolicyDocument"), "Statement").Content {
			_, resource := intrinsic(member(statement, "Resource"))
			actions := member(statement, "Action")
			if actions.Kind == yaml.ScalarNode {
				actions = sequence([]string{actions.Value}, actions)
			}
			for _, action := range actions.Content {
				all[resource.Value] = append(all[resource.Value], action.Value)
			}
			slices.Sort(all[resource.Value])
		}
	}
	return all
}

func TestRepositoryAlarms(t *testing.T) {
	t.Parallel()
	type alarm struct{ Expression, Operator, Threshold, Missing string }
	want := map[string]alarm{}
	for _, prefix := range []string{"", "Stock", "Notify"} { // the first are those of charges
		want[prefix+"DeadLettersNotEmptyAlarm"] = alarm{"v + FILL(n,0)", "GreaterThanThreshold", "0", "ignore"}
		want[prefix+"DeadLetterArrivalsAlarm"] = alarm{"DIFF(v + FILL(n,0))", "GreaterThanThreshold", "0", "notBreaching"}
		want[prefix+"DeadLetterFloodAlarm"] = alarm{
			"DIFF(v + FILL(n,0))", "GreaterThanOrEqualToThreshold", "Ref FloodThreshold", "notBreaching",
		}
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
// metrics below it are those of its dead-letter queue.
func checkMetrics(t *testing.T, name string, metrics *yaml.Node) string {
	t.Helper()
	prefix, _, _ := strings.Cut(name, "DeadLetter")
	if prefix == "" {
		prefix = "Charge"
	}
	wantQueue := "Fn::GetAtt " + prefix + "DeadLetterQueue.QueueName"
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
		if queue != wantQueue || value(m, "ReturnData") != "false" {
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
