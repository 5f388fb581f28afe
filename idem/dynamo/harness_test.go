package dynamo_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

const table = "ledger"

// ledger is a table of its own and a client that counts the calls to it.
type ledger struct {
	*testing.T
	*dynamodb.Client
	store *dynamo.Store

	mu      sync.Mutex
	updates int
	// fail is asked ahead of each update; its error keeps it from being made.
	fail func(n int) error
}

func newLedger(t *testing.T) *ledger { return newLedgerKeyed(t, "id", nil) }

// newLedgerKeyed is a ledger whose partition key has that name.
func newLedgerKeyed(t *testing.T, key string, o *dynamo.Options) *ledger {
	t.Helper()
	l := &ledger{T: t, Client: dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))}
	_, err := l.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.store = dynamo.New(l, table, o)
	return l
}

// UpdateItem counts and passes on.
func (l *ledger) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	l.mu.Lock()
	l.updates++
	n, fail := l.updates, l.fail
	l.mu.Unlock()
	if fail != nil {
		if err := fail(n); err != nil {
			return nil, err
		}
	}
	return l.Client.UpdateItem(ctx, in, options...)
}

// calls gives the number of updates that f makes.
func (l *ledger) calls(f func()) int {
	before := l.updates
	f()
	return l.updates - before
}

var now = time.Date(2026, 11, 30, 12, 0, 0, 7_000_000, time.UTC)

// request is a delivery of the job "charges#k" at that time.
func request(owner string, at time.Time) idem.Request {
	return idem.Request{
		ID: "charges#k", Owner: owner, MessageID: "m1", Validation: "test1:aaaa",
		SentAt: at.Add(-time.Minute), Now: at, Lease: at.Add(32 * time.Second), Expires: at.Add(time.Hour),
	}
}

// acquire demands an answer of that kind.
func (l *ledger) acquire(r idem.Request, want idem.AnswerKind) idem.Answer {
	l.Helper()
	a, err := l.store.Acquire(l.Context(), r)
	if err != nil || a.Kind != want {
		l.Fatalf("acquire gave %s, %v; want %s", a.Kind, err, want)
	}
	return a
}

func (l *ledger) settle(a idem.Answer, s idem.Settlement) {
	l.Helper()
	if err := l.store.Settle(l.Context(), a.Claim, s); err != nil {
		l.Fatalf("%s: %v", s.Kind, err)
	}
}

func (l *ledger) renew(a idem.Answer, until time.Time) {
	l.Helper()
	if err := l.store.Renew(l.Context(), a.Claim, until); err != nil {
		l.Fatalf("renew: %v", err)
	}
}

// item reads what the table holds of the job.
func (l *ledger) item() map[string]types.AttributeValue {
	l.Helper()
	out, err := l.GetItem(l.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "charges#k"}},
	})
	if err != nil {
		l.Fatal(err)
	}
	return out.Item
}

// put writes attributes of the job past the store.
func (l *ledger) put(item map[string]types.AttributeValue) {
	l.Helper()
	item["id"] = &types.AttributeValueMemberS{Value: "charges#k"}
	if _, err := l.PutItem(l.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
		l.Fatal(err)
	}
}
