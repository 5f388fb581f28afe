package stack

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestRepositoryQueues(t *testing.T) {
	t.Parallel()
	s := readRepository(t, nil)
	for _, tt := range []struct {
		prefix, receives  string
		source, deadQueue map[string]string // the attributes that only FIFO queues have
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
				"SQSAFE_MAX_RECEIVES": f.receives, "SQSAFE_MAX_ATTEMPTS": "0", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "3",
				"SQSAFE_BACKOFF": "exponential", "SQSAFE_JITTER": "0", "SQSAFE_CONCURRENCY": "1",
				"SQSAFE_LOG_EXCERPT_BYTES": "0", "SQSAFE_METRICS_NAMESPACE": "sqsafe",
				f.own: f.value,
			},
			Events: []SQSEvent{{
				Name: f.prefix, Queue: f.prefix + "Queue", BatchSize: 10,
				ReportBatchItemFailures: true, MaximumConcurrency: 5, Enabled: true,
			}},
		})
	}
	got := slices.Clone(s.Functions)
	for i := range got {
		got[i].CodeURI, got[i].ARN = "", "" // they depend on the machine
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

func TestRepositoryParametersAreUsed(t *testing.T) {
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
}

func TestRepositoryNoteOnResourcesOfAWSOnly(t *testing.T) {
	t.Parallel()
	const want = "left alone, since they exist in AWS only: 3 of AWS::IAM::Role, 3 of AWS::Logs::LogGroup, " +
		"1 of AWS::SNS::Topic, 42 of AWS::CloudWatch::Alarm, 1 of AWS::CloudWatch::Dashboard"
	if notes := readRepository(t, nil).Notes; !slices.Contains(notes, repositoryTemplate+": "+want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}
