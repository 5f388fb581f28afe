// Package stock takes goods from a table of quantities, once for each job: the
// decrement and the completion of the job are one transaction.
package stock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// ReasonOutOfStock is the reason of a job that wants more than there is.
const ReasonOutOfStock = "out_of_stock"

// Withdrawal is the payload of a job. Producers send it with the SKU as its
// message group: withdrawals of one SKU run in order, and no two transactions
// of the function write the same item at the same time.
type Withdrawal struct {
	ID       string `json:"id"`
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// Validate says what is missing or wrong.
func (w Withdrawal) Validate() error {
	switch {
	case w.ID == "" || w.SKU == "":
		return errors.New("id and sku are required")
	case w.Quantity <= 0:
		return errors.New("quantity must be over 0")
	}
	return nil
}

// Stock is a table with the key sku and the number quantity. It is safe for
// concurrent use.
type Stock struct {
	transactions *dynamo.Transactor
	table        string
}

// New returns the stock in a table, or an error if the table has no name.
func New(api dynamo.TransactionAPI, table string) (*Stock, error) {
	if table == "" {
		return nil, errors.New("STOCK_TABLE is not set; set it to the name of the table of quantities")
	}
	return &Stock{transactions: dynamo.NewTransactor(api), table: table}, nil
}

// Take takes the goods and completes the job, both or neither. Two errors are
// permanent: too few goods ([ReasonOutOfStock]), and no such SKU
// ([fault.ReasonNotFound]).
func (s *Stock) Take(ctx context.Context, w Withdrawal) error {
	completion, err := dynamo.Completion(ctx)
	if err != nil {
		return err
	}
	_, err = s.transactions.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{s.decrement(w), completion},
	})
	return classify(err, w)
}

func (s *Stock) decrement(w Withdrawal) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                aws.String(s.table),
		Key:                      map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: w.SKU}},
		UpdateExpression:         aws.String("SET #quantity = #quantity - :q"),
		ConditionExpression:      aws.String("#quantity >= :q"),
		ExpressionAttributeNames: map[string]string{"#quantity": "quantity"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":q": &types.AttributeValueMemberN{Value: strconv.FormatInt(w.Quantity, 10)},
		},
		// The returned item distinguishes a shortage from an SKU that does not
		// exist.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// classify classifies a failed condition of the decrement as permanent. All
// other errors stay as they are: the ledger and the standard rules classify
// them.
func classify(err error, w Withdrawal) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(cancelled.CancellationReasons) == 0 {
		return err
	}
	decrement := cancelled.CancellationReasons[0] // the decrement is the first action of the transaction
	if aws.ToString(decrement.Code) != "ConditionalCheckFailed" {
		return err
	}
	left, ok := decrement.Item["quantity"].(*types.AttributeValueMemberN)
	if !ok {
		err := fmt.Errorf("the stock has no quantity of sku %q", w.SKU)
		return fault.Permanent(err, fault.WithReason(fault.ReasonNotFound))
	}
	return fault.Permanent(
		fmt.Errorf("sku %q: %d wanted, %s left", w.SKU, w.Quantity, left.Value), fault.WithReason(ReasonOutOfStock),
	)
}
