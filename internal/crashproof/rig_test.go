//go:build unix

package crashproof_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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

// rig is what all scenarios run on: one server with a pair of queues for each.
type rig struct {
	binary    string
	server    *localaws.Server
	endpoint  string // of the server
	providers string
	sqs       *sqs.Client
	dynamodb  *dynamodb.Client
	// starts bounds how many functions start at a time.
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
	engine, providers := httptest.NewServer(http.HandlerFunc(r.serve)), httptest.NewServer(mux)
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

// slowness is many times what a process takes to end by itself.
const slowness = 100 * time.Millisecond

// serve answers for the server. In some scenarios it takes its time with the write that
// a job is done, so that the next may start before the answer.
func (r *rig) serve(w http.ResponseWriter, request *http.Request) {
	if strings.HasSuffix(request.Header.Get("X-Amz-Target"), ".UpdateItem") {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"COMPLETED"`)) && r.isSlow(body) {
			select {
			case <-time.After(slowness):
			case <-request.Context().Done():
				return // the process is gone, and did not come to write it
			}
		}
	}
	r.server.ServeHTTP(w, request)
}

// isSlow tells whether a request is about a job of a slow scenario.
func (r *rig) isSlow(body []byte) bool {
	for queue, run := range r.runs {
		if run.setting.slow && bytes.Contains(body, []byte(`"`+queue+"#")) {
			return true
		}
	}
	return false
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
