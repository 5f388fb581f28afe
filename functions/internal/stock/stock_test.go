package stock_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/functions/internal/stock"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// warehouse is the function with its two tables. It records dead letters.
type warehouse struct {
	*testing.T
	*dynamodb.Client
	server *localaws.Server
	// meanwhile, if set, is called once, before the next transaction is sent.
	meanwhile func()
	dead      []string // message id, reason and text of each dead letter
}

// open makes a warehouse with ten of sku-1 inside a synctest bubble: waiting
// takes no real time.
func open(t *testing.T, run func(w *warehouse)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &warehouse{T: t, server: localaws.New(nil)}
		w.Client = dynamodb.NewFromConfig(localtest.Config(w.server))
		for table, key := range map[string]string{"ledger": "id", "stock": "sku"} {
			_, err := w.CreateTable(t.Context(), &dynamodb.CreateTableInput{
				TableName:            &table,
				BillingMode:          types.BillingModePayPerRequest,
				KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: "S"}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("stock"), Item: map[string]types.AttributeValue{
				"sku": text("sku-1"), "quantity": &types.AttributeValueMemberN{Value: "10"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		run(w)
	})
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// TransactWriteItems calls meanwhile first.
func (w *warehouse) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if w.meanwhile != nil {
		w.meanwhile()
		w.meanwhile = nil
	}
	return w.Client.TransactWriteItems(ctx, in, options...)
}

// Send keeps the letters.
func (w *warehouse) Send(_ context.Context, letters []handler.Letter) {
	for i, l := range letters {
		w.dead = append(w.dead, l.Message.MessageId+" "+l.Failure.Reason+": "+l.Failure.Message)
		letters[i].DeadLetterID = "dead-" + l.Message.MessageId
	}
}

// deliver passes jobs to the function, as messages m1, m2 and so on of one
// group, and returns the ids of those that come back for a retry.
func (w *warehouse) deliver(bodies ...string) (back []string) {
	w.Helper()
	goods, err := stock.New(w, "stock")
	if err != nil {
		w.Fatal(err)
	}
	store := dynamo.New(w.Client, "ledger", nil)
	quiet := slog.New(slog.DiscardHandler)
	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id"), Logger: quiet})
	if err != nil {
		w.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.JSON(goods.Take), &handler.Options{
		Ledger: ledger, DeadLetter: w, Logger: quiet,
	})
	if err != nil {
		w.Fatal(err)
	}
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{
			MessageId: "m" + string(rune('1'+i)), Body: body,
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:123456789012:stock.fifo",
			Attributes: map[string]string{"MessageGroupId": "sku-1", "ApproximateReceiveCount": "1"},
		})
	}
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	response, err := p.Handle(ctx, batch)
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range response.BatchItemFailures {
		back = append(back, f.ItemIdentifier)
	}
	return back
}

// want checks which messages came back, what is left of sku-1, and which were
// dead-lettered.
func (w *warehouse) want(back []string, wantBack, left string, dead ...string) {
	w.Helper()
	if got := strings.Join(back, " "); got != wantBack {
		w.Errorf("%q came back, want %q", got, wantBack)
	}
	out, err := w.GetItem(w.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("stock"), Key: map[string]types.AttributeValue{"sku": text("sku-1")},
	})
	if err != nil {
		w.Fatal(err)
	}
	if got, _ := out.Item["quantity"].(*types.AttributeValueMemberN); got == nil || got.Value != left {
		w.Errorf("%v left, want %s", out.Item["quantity"], left)
	}
	if diff := cmp.Diff(dead, w.dead); diff != "" {
		w.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

const takeTwo = `{"id":"st-1","sku":"sku-1","quantity":2}`

func TestADuplicateTakesNothing(t *testing.T) {
	t.Parallel()
	open(t, func(w *warehouse) {
		w.want(w.deliver(takeTwo), "", "8")
		w.want(w.deliver(takeTwo), "", "8")
	})
}

func TestARetryAfterALostResponseTakesOnce(t *testing.T) {
	t.Parallel()
	open(t, func(w *warehouse) {
		remove := w.server.Inject(localaws.Fault{Operation: "TransactWriteItems", AfterEffect: true})
		back := w.deliver(takeTwo)
		remove()
		w.want(back, "", "8")
		w.want(w.deliver(takeTwo), "", "8")
	})
}

func TestAShortageIsDeadAndTheGroupContinues(t *testing.T) {
	t.Parallel()
	open(t, func(w *warehouse) {
		back := w.deliver(takeTwo,
			`{"id":"st-2","sku":"sku-1","quantity":9}`,
			`{"id":"st-3","sku":"sku-1","quantity":8}`)
		w.want(back, "", "0", `m2 out_of_stock: sku "sku-1": 9 wanted, 8 left`)
	})
}

func TestAnUnknownSKUIsDead(t *testing.T) {
	t.Parallel()
	open(t, func(w *warehouse) {
		w.want(w.deliver(`{"id":"st-1","sku":"sku-9","quantity":1}`), "", "10",
			`m1 not_found: the stock has no quantity of sku "sku-9"`)
	})
}

// A job that lost its claim changes nothing. The delivery that took the claim
// over reports the result.
func TestAJobThatLostItsClaimTakesNothing(t *testing.T) {
	t.Parallel()
	open(t, func(w *warehouse) {
		w.meanwhile = func() { w.takeOver("stock.fifo#st-1") }
		w.want(w.deliver(takeTwo), "m1", "10")
	})
}

// takeOver makes another delivery the owner of a job's claim.
func (w *warehouse) takeOver(id string) {
	w.Helper()
	_, err := w.UpdateItem(w.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("ledger"), Key: map[string]types.AttributeValue{"id": text(id)},
		UpdateExpression:          aws.String("SET #owner = :other"),
		ConditionExpression:       aws.String("attribute_exists(#owner)"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":other": text("another")},
	})
	if err != nil {
		w.Fatal(err)
	}
}

// Throttling and a conflict with another transaction are temporary; a missing
// table or permission is not the job's fault.
func TestErrorsOfDynamoDBAreRetried(t *testing.T) {
	t.Parallel()
	for _, fault := range []localaws.Fault{
		{Code: "ThrottlingException"},
		{Code: "ResourceNotFoundException"},
		{Code: "AccessDeniedException"},
		{Code: "TransactionCanceledException", Message: "Transaction cancelled [TransactionConflict, None]"},
	} {
		t.Run(fault.Code, func(t *testing.T) {
			t.Parallel()
			open(t, func(w *warehouse) {
				fault.Operation = "TransactWriteItems"
				remove := w.server.Inject(fault)
				back := w.deliver(takeTwo)
				remove()
				w.want(back, "m1", "10")
			})
		})
	}
}

func TestValidateRefusesInvalidWithdrawals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		withdrawal stock.Withdrawal
		want       string // empty means valid
	}{
		{stock.Withdrawal{ID: "st-1", SKU: "sku-1", Quantity: 1}, ""},
		{stock.Withdrawal{SKU: "sku-1", Quantity: 1}, "id and sku are required"},
		{stock.Withdrawal{ID: "st-1", Quantity: 1}, "id and sku are required"},
		{stock.Withdrawal{ID: "st-1", SKU: "sku-1"}, "quantity must be over 0"},
		{stock.Withdrawal{ID: "st-1", SKU: "sku-1", Quantity: -1}, "quantity must be over 0"},
	} {
		err := tt.withdrawal.Validate()
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%+v: error %v, want %q", tt.withdrawal, err, tt.want)
		}
	}
}

func TestTheTableNeedsAName(t *testing.T) {
	t.Parallel()
	if _, err := stock.New(nil, ""); err == nil || !strings.Contains(err.Error(), "STOCK_TABLE is not set") {
		t.Errorf("error %v, want one that names STOCK_TABLE", err)
	}
}
