//go:build unix

package crashproof_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

const (
	account = "000000000000"
	table   = "ledger"
)

// rig is shared by all scenarios: one server, with a pair of queues for each
// scenario.
type rig struct {
	binary    string
	server    *localaws.Server
	endpoint  string // address of the server
	providers string
	sqs       *sqs.Client
	dynamodb  *dynamodb.Client
	// starts limits how many functions start at the same time.
	starts chan struct{}
	runs   map[string]*run // by queue
}

func newRig(t *testing.T, binary string) *rig {
	t.Helper()
	r := &rig{binary: binary, starts: make(chan struct{}, 2), runs: map[string]*run{}}
	mux := http.NewServeMux()
	for i, s := range scenarios() {
		run := newRun(r, s, i)
		r.runs[s.queue()] = run
		mux.Handle("POST "+run.path()+"/{job}", run.provider)
	}
	r.server = localaws.New(&localaws.Options{Observe: r.observe})
	engine, providers := httptest.NewServer(r.server), httptest.NewServer(mux)
	for _, s := range []*httptest.Server{engine, providers} {
		t.Cleanup(s.Close)
		t.Cleanup(s.CloseClientConnections)
	}
	r.endpoint, r.providers = engine.URL, providers.URL
	config := localtest.Config(r.server)
	r.sqs, r.dynamodb = sqs.NewFromConfig(config), dynamodb.NewFromConfig(config)
	r.createTable(t)
	return r
}

func (r *rig) createTable(t *testing.T) {
	t.Helper()
	_, err := r.dynamodb.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: ddb.BillingModePayPerRequest,
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) observe(e queues.Event) {
	if run := r.runs[e.Queue]; run != nil {
		run.moved(e.Kind)
	}
}

func (r *rig) url(queue string) string { return r.endpoint + "/" + account + "/" + queue }

func arn(queue string) string { return "arn:aws:sqs:us-east-1:" + account + ":" + queue }
