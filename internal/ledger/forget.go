package ledger

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrChanged says that a job's item has changed since it was read.
var ErrChanged = errors.New("the job has changed since it was read")

// Forget deletes the job's item if it is still equal to e, so that the job's
// next message runs the job again. It is no error if the item does not exist
// any more. Its errors are [ErrChanged] and those of the client.
func (t *Table) Forget(ctx context.Context, e *Entry) error {
	conditions, names, values := e.asSeen()
	if len(values) == 0 { // DynamoDB refuses an empty map
		values = nil
	}
	_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: item{t.key: text(e.ID)},
		ConditionExpression:                 aws.String(strings.Join(conditions, " AND ")),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if len(refused.Item) == 0 { // already deleted: the response to an earlier attempt may have been lost
			return nil
		}
		return ErrChanged
	}
	return err
}

// asSeen returns the conditions under which the item is still equal to e.
func (e *Entry) asSeen() (conditions []string, names map[string]string, values item) {
	names, values = map[string]string{}, item{}
	for _, name := range []string{status, owner, epoch, lease, expiration, claims, settled, deadLetterID} {
		names["#"+name] = name
		value, ok := e.seen[name]
		if !ok {
			conditions = append(conditions, "attribute_not_exists(#"+name+")")
			continue
		}
		values[":"+name] = value
		conditions = append(conditions, "#"+name+" = :"+name)
	}
	return conditions, names, values
}
