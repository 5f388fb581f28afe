package dynamo_test

import (
	"context"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/simulation"
)

// forgetful is a store whose items are deleted as the table's TTL does.
type forgetful struct {
	*dynamo.Store
	ledger *ledger
}

func (f forgetful) Forget(ctx context.Context, id string) error {
	_, err := f.ledger.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": text(id)},
	})
	return err
}

// pausing is a client between whose calls others get their turn.
type pausing struct{ dynamo.API }

func (p pausing) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	simulation.Pause(ctx)
	return p.API.UpdateItem(ctx, in, options...)
}

// SQSAFE_HISTORIES and SQSAFE_SEED walk others than those of a run of all tests:
// SQSAFE_HISTORIES=100000 go test -run HoldsInAllHistories ./idem/...
func TestTheTableHoldsInAllHistories(t *testing.T) {
	t.Parallel()
	options := simulation.ReadModelOptions(t, os.Getenv("SQSAFE_HISTORIES"), os.Getenv("SQSAFE_SEED"), 200)
	simulation.Model(t, func(t *testing.T) idem.Store {
		l := newLedger(t)
		return forgetful{dynamo.New(pausing{l}, table, nil), l}
	}, options)
}

func TestTheTableHoldsInAllHistoriesOfAFleet(t *testing.T) {
	t.Parallel()
	options := simulation.ReadModelOptions(t, os.Getenv("SQSAFE_HISTORIES"), os.Getenv("SQSAFE_SEED"), 60)
	simulation.ModelFleet(t, func(t *testing.T) idem.Store { return dynamo.New(newLedger(t), table, nil) }, options)
}
