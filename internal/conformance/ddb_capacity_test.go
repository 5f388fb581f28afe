package conformance_test

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// units gives the capacity units of a response: in all, and of the table and the
// index byowner if they are there.
func units(c *types.ConsumedCapacity) string {
	if c == nil {
		return "none"
	}
	text := fmt.Sprint("total ", aws.ToFloat64(c.CapacityUnits))
	if c.Table != nil {
		text += fmt.Sprint(", table ", aws.ToFloat64(c.Table.CapacityUnits))
	}
	if i, ok := c.GlobalSecondaryIndexes["byowner"]; ok {
		text += fmt.Sprint(", index ", aws.ToFloat64(i.CapacityUnits))
	}
	return text
}

var ddbCapacityChecks = []check[*ddbEnv]{
	{
		id: "ddb/capacity/reads",
		doc: "A consistent read of an item consumes one unit for each 4 KB, any other read half of that, also of an item " +
			"that does not exist.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "v": avS(strings.Repeat("x", 5000))})
			got := ""
			for _, read := range []struct {
				id         string
				consistent bool
			}{{"k", true}, {"k", false}, {"none", true}, {"none", false}} {
				out, err := e.c.GetItem(t.Context(), &dynamodb.GetItemInput{
					TableName: &table, Key: item{"id": avS(read.id)}, ConsistentRead: &read.consistent,
					ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
				})
				must(t, "GetItem", err)
				got += units(out.ConsumedCapacity) + "; "
			}
			equal(t, "units", got, "total 2; total 1; total 1; total 0.5; ")
		},
	},
	{
		id: "ddb/capacity/writes",
		doc: "A write consumes one unit for each 1 KB of the larger item, before or after; a deletion consumes as much as " +
			"a write.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			put := func(size int) string {
				out, err := e.c.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: &table, Item: item{"id": avS("k"), "v": avS(strings.Repeat("x", size))},
					ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
				})
				must(t, "PutItem", err)
				return units(out.ConsumedCapacity)
			}
			got := put(3000) + "; " + put(1)
			out, err := e.c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: &table, Key: item{"id": avS("k")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			must(t, "DeleteItem", err)
			equal(t, "units", got+"; "+units(out.ConsumedCapacity), "total 3; total 3; total 1")
		},
	},
	{
		id: "ddb/capacity/indexes",
		doc: "A write consumes units of each index that it changes: for a new entry those of the entry, for a changed key " +
			"those of a deletion and an insertion, and none if the entry stays as it is.",
		run: func(t T, e *ddbEnv) {
			table := e.sortedTable(t)
			got := ""
			for _, owner := range []string{"a", "b", "b"} {
				out, err := e.c.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: &table, Item: item{"id": avS("k"), "sk": avN(1), "owner": avS(owner)},
					ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
				})
				must(t, "PutItem", err)
				got += units(out.ConsumedCapacity) + "; "
			}
			equal(t, "units", got,
				"total 2, table 1, index 1; total 3, table 1, index 2; total 1, table 1; ")
		},
	},
	{
		id:  "ddb/capacity/query",
		doc: "A query consumes units for the sum of what it reads, rounded up once.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			out, err := e.c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("id = :p"),
				ExpressionAttributeValues: item{":p": avS("p0")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
			})
			must(t, "Query", err)
			equal(t, "items, units", fmt.Sprint(out.Count, ", ", units(out.ConsumedCapacity)), "15, total 1, table 1")
		},
	},
	{
		id:  "ddb/capacity/transactions",
		doc: "A transaction consumes twice what its reads and writes consume outside of one.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			wrote, err := e.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
				TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: &table, Item: item{"id": avS("a")}}},
					{Put: &types.Put{TableName: &table, Item: item{"id": avS("b")}}},
				},
			})
			must(t, "TransactWriteItems", err)
			read, err := e.c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
				TransactItems: []types.TransactGetItem{
					{Get: &types.Get{TableName: &table, Key: item{"id": avS("a")}}},
				},
			})
			must(t, "TransactGetItems", err)
			equal(t, "units", units(&wrote.ConsumedCapacity[0])+"; "+units(&read.ConsumedCapacity[0]), "total 4; total 2")
		},
	},
}
