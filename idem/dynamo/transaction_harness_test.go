package dynamo_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// shop sells ten pieces, one to each job, in a table of its own beside the
// ledger.
type shop struct {
	*testing.T
	*dynamodb.Client
	server *localaws.Server
	store  *dynamo.Store
	job    func(ctx context.Context) error

	mu     sync.Mutex
	runs   int
	writes []string    // in their order
	last   handler.Job // as the last run of the job was given it
	// cancel, if set, cancels the next transaction with these reasons.
	cancel []string
}

// open makes a shop in a bubble: its hours take no time.
func open(t *testing.T, run func(s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{T: t, server: localaws.New(nil)}
		s.Client = dynamodb.NewFromConfig(localtest.Config(s.server))
		for _, name := range []string{table, "stock"} {
			_, err := s.CreateTable(t.Context(), &dynamodb.CreateTableInput{
				TableName:            &name,
				BillingMode:          types.BillingModePayPerRequest,
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		s.stock("10")
		s.store, s.job = dynamo.New(s, table, nil), s.sell
		run(s)
	})
}

// stock puts so many pieces there.
func (s *shop) stock(pieces string) {
	s.Helper()
	_, err := s.PutItem(s.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("stock"), Item: map[string]types.AttributeValue{"id": text("piece"), "left": number(pieces)},
	})
	if err != nil {
		s.Fatal(err)
	}
}

// UpdateItem notes the write and passes it on.
func (s *shop) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	s.note("update")
	return s.Client.UpdateItem(ctx, in, options...)
}

// TransactWriteItems notes the write and passes it on.
func (s *shop) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	s.note("transaction")
	if s.cancel != nil {
		cancelled := &types.TransactionCanceledException{Message: aws.String(fmt.Sprint(s.cancel))}
		for _, code := range s.cancel {
			cancelled.CancellationReasons = append(cancelled.CancellationReasons, types.CancellationReason{Code: &code})
		}
		s.cancel = nil
		return nil, fmt.Errorf("operation error: %w", cancelled)
	}
	return s.Client.TransactWriteItems(ctx, in, options...)
}

func (s *shop) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, what)
}

// order takes a piece from the stock if there is one.
func order() types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("stock"), Key: map[string]types.AttributeValue{"id": text("piece")},
		UpdateExpression: aws.String("ADD #left :less"), ConditionExpression: aws.String("#left >= :one"),
		ExpressionAttributeNames:  map[string]string{"#left": "left"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":less": number("-1"), ":one": number("1")},
	}}
}

// sell is the job: the piece and the completion in one transaction.
func (s *shop) sell(ctx context.Context) error { return s.sellVia(ctx, dynamo.NewTransactor(s)) }

func (s *shop) sellVia(ctx context.Context, api dynamo.TransactionAPI) error {
	done, err := dynamo.Completion(ctx)
	if err != nil {
		return err
	}
	_, err = api.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{order(), done},
	})
	return err
}

// deliver hands the job out in an invocation of 30 seconds.
func (s *shop) deliver() *handler.Result {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	return s.deliverIn(ctx)
}

// deliverIn hands the job out, as a worker does in a ctx without a deadline.
func (s *shop) deliverIn(ctx context.Context) *handler.Result {
	s.Helper()
	return deliverTo(ctx, s.T, s.store, func(ctx context.Context, m *handler.Message) error {
		s.runs++
		s.last = m.Job
		return s.job(ctx)
	})
}

// deliverTo hands a message out to a job whose ledger has the store. It gives what the
// ledger makes of it; a crash is a panic.
func deliverTo(ctx context.Context, t *testing.T, store idem.Store, job handler.Func) *handler.Result {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	ledger, err := idem.New(store, &idem.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{Ledger: ledger}
	p, err := handler.NewProcessor(job, &handler.Options{Ledger: r, Logger: quiet, Random: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: "a"}}}); err != nil {
		t.Fatal(err)
	}
	return r.result
}

// recorder is a ledger that keeps the last result. The processor completes it in place.
type recorder struct {
	handler.Ledger
	result *handler.Result
}

func (r *recorder) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	a := r.Ledger.Claim(ctx, m, id, end)
	r.result = a.Decided
	if a.Claim != nil {
		a.Claim = recordedClaim{a.Claim, r}
	}
	return a
}

type recordedClaim struct {
	handler.Claim
	recorder *recorder
}

func (c recordedClaim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	c.recorder.result = c.Claim.Settle(ctx, e)
	return c.recorder.result
}

// want demands an outcome, its reason, and what was written for it.
func (s *shop) want(r *handler.Result, outcome handler.Outcome, reason string, writes ...string) {
	s.Helper()
	if r.Outcome != outcome || r.Decision.Reason != reason {
		s.Fatalf("outcome is %s (%s): %v; want %s (%s)", r.Outcome, r.Decision.Reason, r.Err, outcome, reason)
	}
	if fmt.Sprint(s.writes) != fmt.Sprint(writes) {
		s.Fatalf("writes are %q, want %q", s.writes, writes)
	}
	s.writes = nil
}

// sold demands that so many pieces are gone, after so many runs of the job.
func (s *shop) sold(pieces, runs int) {
	s.Helper()
	out, err := s.GetItem(s.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("stock"), Key: map[string]types.AttributeValue{"id": text("piece")},
	})
	if err != nil {
		s.Fatal(err)
	}
	left, _ := out.Item["left"].(*types.AttributeValueMemberN)
	if left == nil || left.Value != strconv.Itoa(10-pieces) || s.runs != runs {
		s.Fatalf("%v are left after %d runs, want %d after %d", out.Item["left"], s.runs, 10-pieces, runs)
	}
}

// steal takes the job over, as only a clock that is far ahead can, and settles
// it unless the kind is 0.
func (s *shop) steal(kind idem.SettlementKind) {
	s.Helper()
	other, now := dynamo.New(s.Client, table, nil), time.Now().Add(time.Hour)
	a, err := other.Acquire(s.Context(), idem.Request{
		ID: "#m1", Owner: "another", MessageID: "m1", Validation: "other1:",
		Now: now, Lease: now.Add(time.Hour), Expires: now.Add(time.Hour),
	})
	if err != nil || a.Kind != idem.AnswerAcquired {
		s.Fatalf("the job could not be taken over: %s, %v", a.Kind, err)
	}
	if kind == 0 {
		return
	}
	settlement := idem.Settlement{Kind: kind, Lease: now, DeadAt: now, Expires: now.Add(time.Hour)}
	if err := other.Settle(s.Context(), a.Claim, settlement); err != nil {
		s.Fatal(err)
	}
}

func pass(d time.Duration) { <-time.After(d) }

// permanent is an error that no other attempt can mend.
type permanent struct{ error }

func (permanent) Permanent() bool { return true }
