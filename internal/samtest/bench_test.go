package samtest_test

import (
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const (
	account      = "123456789012" // the account in the events
	loopback     = "127.0.0.1"
	templateFile = "template.yaml"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// bench has what a function uses: the queues and tables of the template, and
// the demo's provider.
type bench struct {
	*recorder
	endpoint string
	provider string
	stack    *stack.Stack
}

// newBench makes a bench that listens at an address of this machine.
func newBench(t *testing.T, address string, faults ...localaws.Fault) *bench {
	t.Helper()
	server := localaws.New(&localaws.Options{Account: account})
	b := &bench{recorder: &recorder{next: server, calls: map[string]bool{}}}
	b.endpoint = serve(t, address, b.recorder)
	b.provider = serve(t, address, provider.New())
	var err error
	b.stack, err = stack.Read(filepath.Join(root, templateFile), &stack.Options{
		Account:  account,
		QueueURL: func(name string) string { return b.endpoint + "/" + account + "/" + name },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.fill(t, localtest.Config(server))
	for _, f := range faults {
		server.Inject(f)
	}
	return b
}

// serve serves h at a free port of the address and returns the URL.
func serve(t *testing.T, address string, h http.Handler) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// fill creates the queues and tables, and the stock of the demo.
func (b *bench) fill(t *testing.T, cfg aws.Config) {
	t.Helper()
	queues, tables := sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	for _, dead := range []bool{true, false} { // dead-letter queues first: a redrive policy must name an existing queue
		for _, q := range b.stack.Queues {
			if dead != (q.DeadLetterQueue == "") {
				continue
			}
			in := &sqs.CreateQueueInput{QueueName: aws.String(q.Name), Attributes: q.Attributes}
			if _, err := queues.CreateQueue(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range b.stack.Tables {
		key := aws.String(table.Keys[0].Name)
		_, err := tables.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String(table.Name), BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: key, KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: key, AttributeType: "S"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, sku := range []string{"sku-1", "sku-2"} {
		_, err := tables.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("StockTable"),
			Item: map[string]types.AttributeValue{
				"sku": &types.AttributeValueMemberS{Value: sku}, "quantity": &types.AttributeValueMemberN{Value: "10"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// function returns a function of the template by its logical id.
func (b *bench) function(t *testing.T, id string) stack.Function {
	t.Helper()
	for _, f := range b.stack.Functions {
		if f.LogicalID == id {
			return f
		}
	}
	t.Fatalf("the template has no function %s", id)
	return stack.Function{}
}

// environment returns the function's environment, with the addresses of the
// bench.
func (b *bench) environment(f stack.Function) map[string]string {
	environment := maps.Clone(f.Environment)
	environment["AWS_ENDPOINT_URL"] = b.endpoint
	for _, name := range []string{"PAYMENT_URL", "NOTIFY_URL"} {
		if _, declared := environment[name]; declared {
			environment[name] = b.provider
		}
	}
	return environment
}
