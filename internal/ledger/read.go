package ledger

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Get reads the job of that id, nil if the table does not hold it. Its errors
// are those of the client.
func (t *Table) Get(ctx context.Context, id string) (*Entry, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.Name, ConsistentRead: aws.Bool(true), Key: item{t.key: text(id)},
	})
	if err != nil || out.Item == nil {
		return nil, err
	}
	e := decode(t.key, out.Item)
	return &e, nil
}

// Filter says which jobs [Table.List] gives; the zero value takes all.
type Filter struct {
	// Status is the item's; empty takes any.
	Status string
	// Prefix is how the id begins.
	Prefix string
}

// List reads the whole table, in no order, and calls page for each answer of
// the client with the jobs that fit and the number of items that were read for
// them. It ends early when page gives false. Its errors are those of the client.
func (t *Table) List(ctx context.Context, f Filter, page func(jobs []Entry, read int) bool) error {
	in := &dynamodb.ScanInput{TableName: &t.Name}
	t.narrow(in, f)
	pages := dynamodb.NewScanPaginator(t.client, in)
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		jobs := make([]Entry, len(out.Items))
		for i, found := range out.Items {
			jobs[i] = decode(t.key, found)
		}
		if !page(jobs, int(out.ScannedCount)) {
			return nil
		}
	}
	return nil
}

// narrow puts the filter into the call.
func (t *Table) narrow(in *dynamodb.ScanInput, f Filter) {
	var conditions []string
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = map[string]string{}, item{}
	if f.Status != "" {
		conditions = append(conditions, "#status = :status")
		in.ExpressionAttributeNames["#status"] = status
		in.ExpressionAttributeValues[":status"] = text(f.Status)
	}
	if f.Prefix != "" {
		conditions = append(conditions, "begins_with(#id, :prefix)")
		in.ExpressionAttributeNames["#id"] = t.key
		in.ExpressionAttributeValues[":prefix"] = text(f.Prefix)
	}
	if len(conditions) == 0 {
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil
		return
	}
	in.FilterExpression = aws.String(strings.Join(conditions, " AND "))
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
