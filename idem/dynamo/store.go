package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
)

// API has the method of DynamoDB that a [Store] calls; [*dynamodb.Client] has it.
type API interface {
	UpdateItem(
		ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
}

// Options are the settings of a [Store]. The zero value works.
type Options struct {
	// KeyAttribute is the name of the table's partition key; empty means "id".
	KeyAttribute string
}

// Store keeps jobs in a DynamoDB table. It is safe for concurrent use. Its
// calls are not repeated beyond what the client repeats.
type Store struct {
	api   API
	table string
	key   string
}

// New returns the store in the table of that name; nil options mean the defaults.
func New(api API, table string, o *Options) *Store {
	s := &Store{api: api, table: table, key: attributeID}
	if o != nil && o.KeyAttribute != "" {
		s.key = o.KeyAttribute
	}
	return s
}

// acquireTries bounds the writes for one claim. A second is needed where an
// item is to be replaced, a third only if it changes in that moment.
const acquireTries = 4

// ErrContended says that a job's item kept changing while it was claimed, or
// that the table's engine does not return the item that refuses a write.
var ErrContended = errors.New("the item changed with every try")

// Acquire implements [idem.Store]. Its errors are [ErrContended] and those of
// the client.
func (s *Store) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	update := s.claim(r)
	for range acquireTries {
		old, err := s.update(ctx, r.ID, update)
		if err == nil {
			return idem.Decide(old, r).Answer, nil
		}
		seen, err := s.refusal(r.ID, "claim", err)
		if err != nil {
			return idem.Answer{}, err
		}
		if update, err = s.replacement(seen, r); err != nil {
			return idem.Answer{}, err
		}
		if update == nil {
			return idem.Decide(seen, r).Answer, nil
		}
	}
	return idem.Answer{}, fmt.Errorf("dynamo: claim in table %s: %w", s.table, ErrContended)
}

// replacement is the write that the decision on a seen item asks for; nil if
// it asks for none. An item that is gone is claimed like one that never was.
func (s *Store) replacement(seen *idem.Item, r idem.Request) (*update, error) {
	if seen == nil {
		return s.claim(r), nil
	}
	d := idem.Decide(seen, r)
	if d.Write == nil {
		return nil, nil
	}
	return replace(seen, d.Write)
}

// Settle implements [idem.Store]. Its errors are [*idem.LateError] and those of
// the client.
func (s *Store) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	update, err := settle(c, settlement)
	if err != nil {
		return err
	}
	if _, err = s.update(ctx, c.ID, update); err == nil {
		return nil
	}
	item, err := s.refusal(c.ID, settlement.Kind.String(), err)
	if err != nil {
		return err
	}
	return settlement.Refused(item, c)
}

// Renew implements [idem.Store]. Its errors are those of Settle.
func (s *Store) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return s.Settle(ctx, c, idem.Settlement{Kind: idem.SettleRenew, Lease: until})
}

// refusal gives the item that refused a write, nil if it is gone. Its error is
// that of a write which failed for another cause.
func (s *Store) refusal(id, what string, err error) (*idem.Item, error) {
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return nil, fmt.Errorf("dynamo: %s in table %s: %w", what, s.table, err)
	}
	return s.decode(id, refused.Item)
}

// update writes and gives the item as it was before, if that was asked for; nil
// if there was none.
func (s *Store) update(ctx context.Context, id string, u *update) (*idem.Item, error) {
	out, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           aws.String(s.table),
		Key:                                 attributes{s.key: text(id)},
		UpdateExpression:                    aws.String(u.expression()),
		ConditionExpression:                 aws.String(u.condition),
		ExpressionAttributeNames:            u.names,
		ExpressionAttributeValues:           u.values,
		ReturnValues:                        u.returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return nil, err
	}
	return s.decode(id, out.Attributes)
}

func (s *Store) decode(id string, from attributes) (*idem.Item, error) {
	if len(from) == 0 {
		return nil, nil
	}
	item, err := decode(from)
	if err != nil {
		return nil, fmt.Errorf("dynamo: item %q in table %s: %w", id, s.table, err)
	}
	item.ID = id
	return item, nil
}
