//go:build unix

package main

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	awsAccount = "000000000000"
	table      = "ledger"
)

// item is what the ledger has of a job. The zero value stands for nothing.
type item struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Crashes int    `json:"crashes"`
	// Unsettled counts the claims that ended without a result, and that which goes on.
	Unsettled int    `json:"unsettled"`
	Letter    string `json:"letter,omitempty"` // id of the confirmed dead letter
	// All has every attribute, as text.
	All map[string]string `json:"all"`
}

// The states of an item, as the ledger writes them.
const (
	inProgress = "INPROGRESS"
	completed  = "COMPLETED"
	dead       = "DEAD"
)

// ledger reads the table, past the proxy.
type ledger struct{ client *dynamodb.Client }

// item is the job's. It is the zero value where the ledger has none, or cannot be read.
func (l ledger) item(ctx context.Context, j *job) item {
	out, err := l.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: j.itemID()}},
	})
	if err != nil || out.Item == nil {
		return item{}
	}
	return newItem(out.Item)
}

// itemID is the id of the job's item.
func (j *job) itemID() string { return j.queue.name() + "#" + j.id }

// all are all items by their ids.
func (l ledger) all(ctx context.Context) (map[string]item, error) {
	all := map[string]item{}
	pages := dynamodb.NewScanPaginator(l.client, &dynamodb.ScanInput{TableName: aws.String(table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, attributes := range page.Items {
			i := newItem(attributes)
			all[i.ID] = i
		}
	}
	return all, nil
}

func newItem(attributes map[string]types.AttributeValue) item {
	all := map[string]string{}
	for name, value := range attributes {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			all[name] = v.Value
		case *types.AttributeValueMemberN:
			all[name] = v.Value
		}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(all[name]) // absent means 0
		return n
	}
	return item{
		ID: all["id"], Status: all["status"], Letter: all["dlq_message_id"], All: all,
		Crashes: number("crashes"), Unsettled: number("claims") - number("settled"),
	}
}
