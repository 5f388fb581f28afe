package ledger

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Get returns the job with this id, nil if the table does not have it. Its
// errors are those of the client.
func (t *Table) Get(ctx context.Context, id string) (*Entry, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.Name, ConsistentRead: aws.Bool(true), Key: item{t.key: text(id)},
	})
	if err != nil || out.Item == nil {
		return nil, err
	}
	e := Decode(t.key, out.Item)
	return &e, nil
}

// Filter selects the jobs for [Table.List]; the zero value selects all.
type Filter struct {
	// Status is the item's status; empty selects any.
	Status string
	// Prefix is the start of the id.
	Prefix string
}

// List reads the whole table in no particular order. It calls page for each
// response of the client, with the jobs that match and the number of items that
// were read. If page returns false, List ends. Its errors are those of the
// client.
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
			jobs[i] = Decode(t.key, found)
		}
		if !page(jobs, int(out.ScannedCount)) {
			return nil
		}
	}
	return nil
}

// narrow adds the filter to the call.
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
