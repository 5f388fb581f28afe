package conformance_test

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (e *ddbEnv) enableTTL(t T, table string) {
	t.Helper()
	_, err := e.c.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("expiration"),
			Enabled:       aws.Bool(true),
		},
	})
	must(t, "UpdateTimeToLive", err)
}

var ddbTableChecks = []check[*ddbEnv]{
	{
		id:  "ddb/tables/create-describe",
		doc: "DescribeTable shows a new table as ACTIVE when it is ready for use.",
		run: func(t T, e *ddbEnv) {
			table := e.sortedTable(t)
			out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
			must(t, "DescribeTable", err)
			equal(t, "TableStatus", out.Table.TableStatus, types.TableStatusActive)
		},
	},
	{
		id:  "ddb/tables/create-twice-rejected",
		doc: "CreateTable with the name of a table that exists fails with ResourceInUseException.",
		run: func(t T, e *ddbEnv) {
			_, err := e.c.CreateTable(t.Context(), keyTable(e.table(t)))
			wantError[*types.ResourceInUseException](t, err)
		},
	},
	{
		id:  "ddb/tables/time-to-live",
		doc: "DescribeTimeToLive shows the attribute that UpdateTimeToLive set, as ENABLING or ENABLED.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.enableTTL(t, table)
			out, err := e.c.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
			must(t, "DescribeTimeToLive", err)
			d := out.TimeToLiveDescription
			if s := d.TimeToLiveStatus; s != types.TimeToLiveStatusEnabled && s != types.TimeToLiveStatusEnabling {
				t.Fatalf("TimeToLiveStatus: %s", s)
			}
			equal(t, "attribute", aws.ToString(d.AttributeName), "expiration")
		},
	},
	{
		id: "ddb/tables/expired-item-readable",
		doc: "An item whose time to live is over can still be read until it is deleted, which takes up to a few " +
			"days.",
		debatable: "an earlier deletion is within the documentation, though no program may count on it",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.enableTTL(t, table)
			e.put(t, table, item{"id": avS("a"), "expiration": avN(time.Now().Unix() - 10), "status": avS("COMPLETED")})
			wait(t, 500*time.Millisecond)
			equal(t, "status", show(e.get(t, table, "a"), "status"), "COMPLETED")
		},
	},
	{
		id:  "ddb/tables/missing-table",
		doc: "PutItem to a table that does not exist fails with ResourceNotFoundException.",
		run: func(t T, e *ddbEnv) {
			_, err := e.c.PutItem(
				t.Context(), &dynamodb.PutItemInput{TableName: aws.String(unique("none")), Item: item{"id": avS("x")}},
			)
			wantError[*types.ResourceNotFoundException](t, err)
		},
	},
	{
		id:  "ddb/tables/missing-item",
		doc: "GetItem of a key that does not exist returns no item and no error.",
		run: func(t T, e *ddbEnv) { equal(t, "attributes", len(e.get(t, e.table(t), "none")), 0) },
	},
}
