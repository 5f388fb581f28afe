package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a table of jobs. It is safe for concurrent use.
type Table struct {
	// Name is the name of the table.
	Name string
	// Items is the approximate number of items: DynamoDB updates it every six
	// hours.
	Items int64

	client *dynamodb.Client
	key    string
}

// ErrNoLedger says that a table does not have the key of a ledger.
var ErrNoLedger = errors.New("it is no ledger: its key is not one attribute of type String")

// Open opens the table of that name. Its errors are [ErrNoLedger] and those of
// the client.
func Open(ctx context.Context, client *dynamodb.Client, name string) (*Table, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	key := partitionKey(out.Table)
	if key == "" {
		return nil, fmt.Errorf("table %s: %w", name, ErrNoLedger)
	}
	return &Table{Name: name, Items: aws.ToInt64(out.Table.ItemCount), client: client, key: key}, nil
}

// partitionKey returns the attribute of the key, or an empty string if the key
// has two.
func partitionKey(table *types.TableDescription) string {
	if len(table.KeySchema) != 1 {
		return ""
	}
	key := aws.ToString(table.KeySchema[0].AttributeName)
	for _, attribute := range table.AttributeDefinitions {
		if aws.ToString(attribute.AttributeName) == key && attribute.AttributeType == types.ScalarAttributeTypeS {
			return key
		}
	}
	return ""
}

// AmbiguousError says that the number of tables that look like a ledger is not
// one.
type AmbiguousError struct {
	// Tables are the tables that look like a ledger.
	Tables []string
}

// Error names the tables.
func (e *AmbiguousError) Error() string {
	if len(e.Tables) == 0 {
		return "no table looks like a ledger, with one key attribute and the TTL attribute " + expiration
	}
	return fmt.Sprintf("%d tables look like a ledger: %s", len(e.Tables), strings.Join(e.Tables, ", "))
}

// Find opens the only table that looks like a ledger: its key has one
// attribute, and its TTL attribute is expiration. Its errors are
// [*AmbiguousError] and those of the client.
func Find(ctx context.Context, client *dynamodb.Client) (*Table, error) {
	var found *Table
	var names []string
	pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range page.TableNames {
			table, err := candidate(ctx, client, name)
			if err != nil {
				return nil, err
			}
			if table != nil {
				found, names = table, append(names, name)
			}
		}
	}
	if len(names) != 1 {
		return nil, &AmbiguousError{Tables: names}
	}
	return found, nil
}

// candidate returns nil for a table that does not look like a ledger.
func candidate(ctx context.Context, client *dynamodb.Client, name string) (*Table, error) {
	table, err := Open(ctx, client, name)
	if errors.Is(err, ErrNoLedger) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	ttl := out.TimeToLiveDescription
	if ttl == nil || aws.ToString(ttl.AttributeName) != expiration {
		return nil, nil
	}
	return table, nil
}
