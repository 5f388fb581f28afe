package local

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const adoptTemplate = `Transform: AWS::Serverless-2016-10-31
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
  Dead: {Type: AWS::SQS::Queue}
  Ordered: {Type: AWS::SQS::Queue, Properties: {QueueName: ordered.fifo, FifoQueue: true, DelaySeconds: 1}}
  Ledger:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: expiration, Enabled: true}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: bootstrap
      CodeUri: .
      Timeout: 10
      Environment: {Variables: {DEAD: !Ref Dead}}
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}}
`

// otherEngine is a server of another account on a real listener.
func otherEngine(t *testing.T) (*localaws.Server, string) {
	t.Helper()
	server := localaws.New(&localaws.Options{Region: "eu-west-1", Account: "111122223333"})
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return server, web.URL
}

// adopting is a stack on the engine, up to where functions would be built.
func adopting(t *testing.T, endpoint string) (*Stack, *[]Event) {
	t.Helper()
	s := &Stack{stop: func() {}, options: Options{
		Template: write(t, adoptTemplate), EndpointSQS: endpoint, EndpointDynamoDB: endpoint,
	}}
	if err := s.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.connect()
	events := &[]Event{}
	s.journal.reorder.emit = func(e Event) { *events = append(*events, e) }
	return s, events
}

func TestAnotherEngineGetsQueuesAndTables(t *testing.T) {
	t.Parallel()
	server, endpoint := otherEngine(t)
	for _, turn := range []string{"new", "there already"} {
		s, events := adopting(t, endpoint)
		if err := s.createQueues(t.Context()); err != nil {
			t.Fatalf("%s: %v", turn, err)
		}
		if err := s.createTables(t.Context()); err != nil {
			t.Fatalf("%s: %v", turn, err)
		}
		dead, _ := s.template.Queue("Dead")
		if !strings.HasSuffix(dead.URL, "/111122223333/Dead") || s.template.Functions[0].Environment["DEAD"] != dead.URL {
			t.Errorf("%s: the function gets the queue %s, want the engine's %s",
				turn, s.template.Functions[0].Environment["DEAD"], dead.URL)
		}
		if s.endpoint() != "" {
			t.Errorf("%s: it listens at %s", turn, s.endpoint())
		}
		want := map[string]string{endpointVariable + "_SQS": endpoint, endpointVariable + "_DYNAMODB": endpoint}
		if diff := cmp.Diff(want, s.endpoints()); diff != "" {
			t.Errorf("endpoints (-want +got):\n%s", diff)
		}
		s.journal.reorder.flush()
		if turn == "there already" && (len(*events) != 1 || !strings.Contains((*events)[0].Line, "Ledger is there already")) {
			t.Errorf("events %+v, want a note about the table", *events)
		}
	}
	for _, q := range server.SQS().Stats() {
		if q.Name == "Jobs" && (q.RedriveTarget != "arn:aws:sqs:eu-west-1:111122223333:Dead" || q.MaxReceiveCount != 3) {
			t.Errorf("queue %+v, want the template's redrive policy", q)
		}
	}
}

func TestAQueueThatDiffersIsNamed(t *testing.T) {
	t.Parallel()
	policy := func(n string) string {
		return `{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:111122223333:Dead","maxReceiveCount":` + n + `}`
	}
	tests := []struct {
		name       string
		attributes map[string]string
		want       string
	}{
		{"another visibility timeout", map[string]string{"VisibilityTimeout": "30", "RedrivePolicy": policy("3")},
			"with VisibilityTimeout 30, and the template says 60; delete it there, or make them the same"},
		{"another maximum", map[string]string{"VisibilityTimeout": "60", "RedrivePolicy": policy("9")},
			"with RedrivePolicy " + policy("9") + ", and the template says " + policy("3")},
		{"no redrive policy", map[string]string{"VisibilityTimeout": "60"}, "without the RedrivePolicy of the template"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, endpoint := otherEngine(t)
			s, _ := adopting(t, endpoint)
			for _, in := range []*sqs.CreateQueueInput{
				{QueueName: aws.String("Dead")}, {QueueName: aws.String("Jobs"), Attributes: tt.attributes},
			} {
				if _, err := s.queues.CreateQueue(t.Context(), in); err != nil {
					t.Fatal(err)
				}
			}
			err := s.createQueues(t.Context())
			if err == nil || !strings.Contains(err.Error(), "queue Jobs: it exists at "+endpoint+" "+tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			left, err := s.queues.ListQueues(t.Context(), &sqs.ListQueuesInput{})
			if err != nil || len(left.QueueUrls) != 2 {
				t.Errorf("queues %v, %v; want the two that were there", left.QueueUrls, err)
			}
		})
	}
}

func TestATableThatDiffersIsNamed(t *testing.T) {
	t.Parallel()
	_, endpoint := otherEngine(t)
	s, _ := adopting(t, endpoint)
	other := tableInput(stack.Table{
		Name: "Ledger", Keys: []stack.Key{{Name: "pk", Type: "HASH"}}, Attributes: []stack.Attribute{{Name: "pk", Type: "S"}},
	})
	if _, err := s.tables.CreateTable(t.Context(), other, func(*dynamodb.Options) {}); err != nil {
		t.Fatal(err)
	}
	err := s.createTables(t.Context())
	want := "table Ledger: it exists with the key pk (HASH), and the template says id (HASH)"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAnEngineMayRefuse(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		"GetQueueUrl":        "queue Jobs: Broken: on purpose",
		"CreateQueue":        "queue Jobs: Broken: on purpose",
		"GetQueueAttributes": "queue Jobs: Broken: on purpose",
		"SetQueueAttributes": "queue Jobs: Broken: on purpose",
		"CreateTable":        "table Ledger: Broken: on purpose",
		"DescribeTable":      "table Ledger: Broken: on purpose",
		"UpdateTimeToLive":   "table Ledger: Broken: on purpose",
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			server, endpoint := otherEngine(t)
			server.Inject(localaws.Fault{Operation: operation, Code: "Broken", Message: "on purpose"})
			s, _ := adopting(t, endpoint)
			err := s.createQueues(t.Context())
			if err == nil {
				err = s.createTables(t.Context())
			}
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
}

func TestTablesArePreparedOnceTheyAreThere(t *testing.T) {
	t.Parallel()
	_, endpoint := otherEngine(t)
	s, _ := adopting(t, endpoint)
	s.options.Prepare = func(ctx context.Context, tables *dynamodb.Client) error {
		_, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("Ledger")})
		return err
	}
	if err := s.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "ResourceNotFoundException") {
		t.Errorf("error %v, want that of the missing table", err)
	}
	if err := s.createTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.prepare(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnEngineThatIsNotThere(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(nil)
	web.Close()
	s, _ := adopting(t, web.URL)
	err := s.createQueues(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nothing listens at "+web.URL+"; start the engine there") {
		t.Errorf("error %v, want one that names the endpoint", err)
	}
	if _, err := Start(t.Context(), Options{Template: write(t, adoptTemplate), EndpointSQS: "localhost:1"}); err == nil ||
		!strings.Contains(err.Error(), `endpoint "localhost:1": want a URL`) {
		t.Errorf("error %v, want one that names the endpoint", err)
	}
}

func TestIdleCountsTheQueuesOfTheEngine(t *testing.T) {
	t.Parallel()
	server, endpoint := otherEngine(t)
	s, _ := adopting(t, endpoint)
	if err := s.createQueues(t.Context()); err != nil {
		t.Fatal(err)
	}
	jobs, _ := s.template.Queue("Jobs")
	dead, _ := s.template.Queue("Dead")
	for _, url := range []string{jobs.URL, dead.URL} { // what is dead does not count
		_, err := s.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(url), MessageBody: aws.String("x"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	idle := make(chan error)
	go func() { idle <- s.Idle(t.Context()) }()
	select {
	case err := <-idle:
		t.Fatalf("idle with a message: %v", err)
	case <-time.After(3 * idlePoll):
	}
	if _, err := s.queues.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: aws.String(jobs.URL)}); err != nil {
		t.Fatal(err)
	}
	if err := <-idle; err != nil {
		t.Errorf("idle: %v", err)
	}
	server.Inject(localaws.Fault{Operation: "GetQueueAttributes", Code: "Broken", Message: "on purpose"})
	if err := s.Idle(t.Context()); err == nil || !strings.Contains(err.Error(), "queue Jobs: Broken: on purpose") {
		t.Errorf("error %v, want the engine's", err)
	}
}

func TestTargetsComeFirst(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{Queues: []stack.Queue{
		{LogicalID: "a", DeadLetterQueue: "b"}, {LogicalID: "b", DeadLetterQueue: "c"}, {LogicalID: "c"},
		{LogicalID: "x", DeadLetterQueue: "y"}, {LogicalID: "y", DeadLetterQueue: "x"},
	}}
	var got []string
	for _, q := range targetsFirst(s) {
		got = append(got, q.LogicalID)
	}
	if diff := cmp.Diff([]string{"c", "b", "a", "y", "x"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestAttributesAreComparedByMeaning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"30", "30", true},
		{"30", "31", false},
		{`{"a":1,"b":"x"}`, `{"b": "x", "a": 1}`, true},
		{`{"maxReceiveCount":"3"}`, `{"maxReceiveCount":3}`, true},
		{`{"maxReceiveCount":4}`, `{"maxReceiveCount":3}`, false},
		{`{"a":1}`, `30`, false},
	} {
		if got := sameAttribute(tt.a, tt.b); got != tt.same {
			t.Errorf("%s and %s: same %v", tt.a, tt.b, got)
		}
	}
}
