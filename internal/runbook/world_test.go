package runbook_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

const (
	region  = "eu-central-1"
	account = "111122223333"
	// maxReceives is the maxReceiveCount of the template.
	maxReceives = 30
	table       = "sqsafe-LedgerTable-1P2Q3R4S5T6U"
	function    = "sqsafe-ChargeFunction-9M8N7P6Q5R4S"
)

// world is a deployed stack: its queues, its ledger, and a function that a
// scenario invokes.
type world struct {
	*testing.T

	clock    *manualClock
	web      *httptest.Server
	awsOnly  *awsOnly
	sqs      *sqs.Client
	dynamodb *dynamodb.Client
	urls     map[string]string // queue URLs by name
	declines map[string]int    // status codes of the provider, by customer
	version  string            // version of the function
	done     map[string]int    // number of successful runs by job
	working  sync.Mutex        // held while the function works by itself
}

// The functions of the stack in the runbook, and their queues.
const (
	charges, deadCharges = "sqsafe-charges", "sqsafe-ChargeDeadLetterQueue-7A8B9C0D1E2F"
	stocks, deadStocks   = "sqsafe-stock.fifo", "sqsafe-StockDeadLetterQueue-3G4H5I6J7K8L.fifo"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		T: t, clock: &manualClock{now: time.Now()}, urls: map[string]string{}, done: map[string]int{}, version: "7",
		declines: map[string]int{
			"c-declined": http.StatusUnprocessableEntity, "c-down": http.StatusServiceUnavailable,
			"c-locked": http.StatusUnauthorized,
		},
	}
	server := localaws.New(&localaws.Options{Clock: w.clock, Region: region, Account: account})
	w.awsOnly = &awsOnly{local: server, outputs: w.stackOutputs, lambda: &mappings{state: "Enabled"}}
	w.web = httptest.NewServer(w.awsOnly)
	t.Cleanup(w.web.Close)
	cfg := aws.Config{
		Region: region, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: &w.web.URL, HTTPClient: &http.Client{Transport: server.Transport()},
	}
	w.sqs, w.dynamodb = sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	w.createQueues(charges, deadCharges, map[string]string{})
	w.createQueues(stocks, deadStocks, map[string]string{"FifoQueue": "true"})
	_, err := w.dynamodb.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: ddb.BillingModePayPerRequest,
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	w.check(err)
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func arn(name string) string { return "arn:aws:sqs:" + region + ":" + account + ":" + name }

func (w *world) createQueues(source, dead string, attributes map[string]string) {
	w.Helper()
	w.createQueue(dead, attributes, "1209600", nil)
	redrive := map[string]any{"deadLetterTargetArn": arn(dead), "maxReceiveCount": maxReceives}
	w.createQueue(source, attributes, "345600", redrive)
}

func (w *world) createQueue(name string, attributes map[string]string, retention string, redrive map[string]any) {
	w.Helper()
	all := map[string]string{"MessageRetentionPeriod": retention}
	maps.Copy(all, attributes)
	if redrive != nil {
		all["VisibilityTimeout"] = "180"
		text, err := json.Marshal(redrive)
		w.check(err)
		all["RedrivePolicy"] = string(text)
	}
	out, err := w.sqs.CreateQueue(w.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: all})
	w.check(err)
	w.urls[name] = *out.QueueUrl
}

// stackOutputs returns the outputs of the stack, as CloudFormation does.
func (w *world) stackOutputs() map[string]string {
	return map[string]string{
		"ChargeQueueUrl": w.urls[charges], "ChargeQueueArn": arn(charges),
		"ChargeDeadLetterQueueUrl": w.urls[deadCharges],
		"StockQueueUrl":            w.urls[stocks], "StockQueueArn": arn(stocks),
		"StockDeadLetterQueueUrl": w.urls[deadStocks],
		"LedgerTableName":         table,
	}
}

// send sends a job to a queue.
func (w *world) send(name, body, group string, attributes map[string]types.MessageAttributeValue) {
	w.Helper()
	in := &sqs.SendMessageInput{QueueUrl: aws.String(w.urls[name]), MessageBody: &body, MessageAttributes: attributes}
	if group != "" {
		in.MessageGroupId = &group
		in.MessageDeduplicationId = aws.String(fmt.Sprintf("%x", sha256.Sum256([]byte(body))))
	}
	_, err := w.sqs.SendMessage(w.Context(), in)
	w.check(err)
}
