package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

var now = time.Date(2026, 11, 30, 12, 0, 0, 7_000_000, time.UTC)

// database is an emulated DynamoDB with helpers.
type database struct {
	*testing.T
	*dynamodb.Client
	server *localaws.Server
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	server := localaws.New(nil)
	return &database{T: t, Client: dynamodb.NewFromConfig(localtest.Config(server)), server: server}
}

// table creates a table; an empty ttl means no TTL attribute.
func (d *database) table(name, ttl string, keys ...types.KeySchemaElement) {
	d.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keys}
	for _, key := range keys {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: key.AttributeName, AttributeType: types.ScalarAttributeTypeS,
		})
	}
	if _, err := d.CreateTable(d.Context(), in); err != nil {
		d.Fatal(err)
	}
	if ttl == "" {
		return
	}
	_, err := d.UpdateTimeToLive(d.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &name, TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: &ttl, Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		d.Fatal(err)
	}
}

func hash(name string) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: &name, KeyType: types.KeyTypeHash}
}

func sorted(name string) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: &name, KeyType: types.KeyTypeRange}
}

// ledger creates a ledger's table and opens it.
func (d *database) ledger(key string) *ledger.Table {
	d.Helper()
	d.table("jobs", "expiration", hash(key))
	table, err := ledger.Open(d.Context(), d.Client, "jobs")
	if err != nil {
		d.Fatal(err)
	}
	return table
}

func (d *database) put(attributes item) {
	d.Helper()
	_, err := d.PutItem(d.Context(), &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: attributes})
	if err != nil {
		d.Fatal(err)
	}
}

func (d *database) get(table *ledger.Table, id string) *ledger.Entry {
	d.Helper()
	job, err := table.Get(context.Background(), id)
	if err != nil {
		d.Fatal(err)
	}
	return job
}
