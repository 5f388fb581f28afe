package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
)

var (
	// ErrNoClaim says that the context has no claimed job that could be
	// completed: it does not come from the processor, it is that of an
	// [idem.Step], or the job runs unprotected because the store could not be
	// asked.
	ErrNoClaim = errors.New("the context has no claim on a job; pass on the one that the function got")
	// ErrNoTransactions says that the job is kept in a store that takes part in
	// no transaction.
	ErrNoTransactions = errors.New("the job's store is not a table of DynamoDB, so no transaction can complete the job")
	// ErrCommitted says that the job was completed by an earlier transaction,
	// and that this one was not sent.
	ErrCommitted = errors.New("the job is completed; put all its writes into the transaction that completes it")
)

// participant is a [Store], or what embeds one.
type participant interface {
	completion(c idem.Claim, s idem.Settlement) (types.TransactWriteItem, error)
	completes(item types.TransactWriteItem, c idem.Claim) bool
	decode(id string, from attributes) (*idem.Item, error)
}

// Completion returns the write that completes the job of ctx, for the user's own
// TransactWriteItems: either the effect and its record are both written, or
// neither is. Send it through a [Transactor] in the ctx of the job. It takes
// one of the transaction's 100 actions, and the table must be in the region and
// account of the others. Its errors are [ErrNoClaim] and [ErrNoTransactions].
//
// It refuses the transaction when the claim was lost. Sent past a Transactor
// it protects the job as well, at the cost of one more write.
func Completion(ctx context.Context) (types.TransactWriteItem, error) {
	c := idem.CompletionOf(ctx)
	if c == nil {
		return types.TransactWriteItem{}, fmt.Errorf("dynamo: completion: %w", ErrNoClaim)
	}
	store, ok := c.Store().(participant)
	if !ok {
		return types.TransactWriteItem{}, fmt.Errorf("dynamo: completion in %T: %w", c.Store(), ErrNoTransactions)
	}
	return store.completion(c.Claim(), c.HandOut())
}

// TransactionAPI has the method of DynamoDB that a [Transactor] calls; [*dynamodb.Client] has it.
type TransactionAPI interface {
	TransactWriteItems(
		ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
}

// Transactor sends transactions and sees which of them complete a job, so that the
// ledger writes nothing more about it. It takes the place of the client: transactions
// without a [Completion] pass through it. It is safe for concurrent use if its client
// is.
type Transactor struct{ api TransactionAPI }

// NewTransactor returns a Transactor that sends through api.
func NewTransactor(api TransactionAPI) *Transactor { return &Transactor{api: api} }

// TransactWriteItems sends a transaction. From its success on the job is done,
// whatever the function returns. A job has one transaction that completes it;
// another one is not sent and gives [ErrCommitted].
//
// An [*idem.LateError] says that the transaction was cancelled because the
// claim was lost: nothing was written, and the function should return it. A
// conflict with another write to the job's item is an error that brings the job
// back after a second at no cost. All other errors are the client's, as they
// are: the user's conditions among them, also beside such a conflict.
//
// After an answer that was lost for good nobody knows whether the transaction
// was done. Sent again it tells: it is done once, and the second call gives
// success.
func (t *Transactor) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	p := find(ctx, in)
	if p == nil {
		return t.api.TransactWriteItems(ctx, in, options...)
	}
	if p.Committed() {
		return nil, fmt.Errorf("dynamo: transaction: %w", ErrCommitted)
	}
	out, err := t.api.TransactWriteItems(ctx, in, options...)
	if err != nil {
		err = p.refusal(err)
	}
	if err != nil {
		return nil, err
	}
	p.Commit()
	if out == nil {
		out = &dynamodb.TransactWriteItemsOutput{}
	}
	return out, nil
}

// part is a completion's place in a transaction.
type part struct {
	*idem.Completion
	store participant
	index int
}

// find gives the part of ctx's job in a transaction; nil if it has none.
func find(ctx context.Context, in *dynamodb.TransactWriteItemsInput) *part {
	c := idem.CompletionOf(ctx)
	if c == nil || in == nil {
		return nil
	}
	store, ok := c.Store().(participant)
	if !ok {
		return nil
	}
	for i, item := range in.TransactItems {
		if store.completes(item, c.Claim()) {
			return &part{Completion: c, store: store, index: i}
		}
	}
	return nil
}

// Codes of the reasons for which DynamoDB cancels a transaction.
const (
	reasonNone      = "None"
	reasonCondition = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
)

// refusal reads why a transaction failed; nil if it was done before.
func (p *part) refusal(err error) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || p.index >= len(cancelled.CancellationReasons) {
		return err
	}
	reason := cancelled.CancellationReasons[p.index]
	switch {
	case aws.ToString(reason.Code) == reasonCondition:
		return p.late(reason.Item)
	case aws.ToString(reason.Code) == reasonConflict && onlyConflicts(cancelled.CancellationReasons):
		return p.Contended(err)
	default:
		return err
	}
}

// late reads the item that refused the transaction. Only a transaction of this
// very run can have completed the job under its own claim.
func (p *part) late(from attributes) error {
	claim := p.Claim()
	item, err := p.store.decode(claim.ID, from)
	if err != nil {
		return err
	}
	late := &idem.LateError{ID: claim.ID, Kind: idem.SettleComplete}
	if item != nil {
		if item.Owner == claim.Owner && item.Status == idem.StatusCompleted {
			return nil
		}
		late.Status, late.Until = item.Status, item.Lease
	}
	return fmt.Errorf("dynamo: transaction cancelled: %w", late)
}

func onlyConflicts(reasons []types.CancellationReason) bool {
	for _, r := range reasons {
		if code := aws.ToString(r.Code); code != reasonNone && code != reasonConflict {
			return false
		}
	}
	return true
}

// completion is a settlement as an action of a transaction.
func (s *Store) completion(c idem.Claim, settlement idem.Settlement) (types.TransactWriteItem, error) {
	u, err := settle(c, settlement)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           aws.String(s.table),
		Key:                                 attributes{s.key: text(c.ID)},
		UpdateExpression:                    aws.String(u.expression()),
		ConditionExpression:                 aws.String(u.condition),
		ExpressionAttributeNames:            u.names,
		ExpressionAttributeValues:           u.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, nil
}

// completes tells whether an action is the completion of claim c. It goes by
// what the action says, since who builds a transaction may copy it.
func (s *Store) completes(item types.TransactWriteItem, c idem.Claim) bool {
	u := item.Update
	if u == nil || aws.ToString(u.TableName) != s.table {
		return false
	}
	owner, ok := u.ExpressionAttributeValues[":"+me].(*types.AttributeValueMemberS)
	return ok && owner.Value == c.Owner
}
