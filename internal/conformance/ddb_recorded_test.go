package conformance_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ddbRecordedChecks are departures from the recorded answers that were found in
// the emulator.
var ddbRecordedChecks = []check[*ddbEnv]{
	{
		id:    "ddb/updates/parentheses-round-operands",
		doc:   "Operands of an expression can be in parentheses.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "n": avN(1)})
			in := updateInput(table, "SET n = (n + :one)", item{":one": avN(1)})
			in.ConditionExpression = aws.String("(n) = (:one) AND (n) BETWEEN (:one) AND (:one)")
			equal(t, "n", show(e.update(t, in), "n"), "2")
		},
	},
	{
		id:    "ddb/updates/new-item-reads-its-key",
		doc:   "An update that creates an item can read the item's key.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			got := e.update(t, updateInput(e.table(t), "SET b = if_not_exists(b, id), c = id", nil))
			equal(t, "b and c", show(got, "b")+show(got, "c"), "kk")
		},
	},
	{
		id:    "ddb/conditions/size-counts-characters",
		doc:   "The function size counts the characters of a string, not its bytes.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "s": avS("abÿ")})
			in := updateInput(table, "SET n = :three", item{":three": avN(3)})
			in.ConditionExpression = aws.String("size(s) = :three")
			e.update(t, in)
		},
	},
	{
		id:    "ddb/queries/empty-key-rejected",
		doc:   "A query for an empty key value is refused.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			_, err := e.c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &table, KeyConditionExpression: aws.String("id = :k"), ExpressionAttributeValues: item{":k": avS("")},
			})
			wantRejected(t, err)
		},
	},
	{
		id: "ddb/queries/page-ends-at-1-mb",
		doc: "A page ends with the item that brings its items to 1 MB as they are stored: 24 items, with 1,041,352 bytes " +
			"by the documented sizes.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.create(t, localTable(1))
			for i := range 25 {
				value := strings.Repeat("e", 43372)
				if i == 23 {
					value += strings.Repeat("e", 16)
				}
				e.put(t, table, item{"id": avS("partition!"), "sk": avS(fmt.Sprintf("%02d", i)), "e": avS(value)})
			}
			out, err := e.c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &table, KeyConditionExpression: aws.String("id = :p"), Select: types.SelectCount,
				ExpressionAttributeValues: item{":p": avS("partition!")},
			})
			must(t, "Query", err)
			equal(t, "items, last key", fmt.Sprint(out.Count, ", ", show(out.LastEvaluatedKey, "sk")), "24, 23")
		},
	},
	{
		id: "ddb/queries/partitions-in-hash-order",
		doc: "A scan returns partitions in the order of a hash of their keys, which is the same in every table and at " +
			"every time.",
		basis:     recorded,
		debatable: "not documented",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			for i := range 10 {
				e.put(t, table, item{"id": avS(fmt.Sprint(i))})
			}
			out, err := e.c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
			must(t, "Scan", err)
			var ids []string
			for _, it := range out.Items {
				ids = append(ids, show(it, "id"))
			}
			equal(t, "ids", strings.Join(ids, " "), "2 8 9 1 6 0 5 4 7 3")
		},
	},
	{
		id:  "ddb/queries/segments",
		doc: "The segments of a parallel scan have all items together, each once.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			var want, got []string
			for i := range 20 {
				want = append(want, fmt.Sprint("k", i))
				e.put(t, table, item{"id": avS(want[i])})
			}
			for segment := range int32(3) {
				pages := dynamodb.NewScanPaginator(e.c, &dynamodb.ScanInput{
					TableName: &table, Segment: &segment, TotalSegments: aws.Int32(3), Limit: aws.Int32(2),
				})
				for pages.HasMorePages() {
					out, err := pages.NextPage(t.Context())
					must(t, "Scan", err)
					for _, it := range out.Items {
						got = append(got, show(it, "id"))
					}
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			equal(t, "ids", strings.Join(got, " "), strings.Join(want, " "))
		},
	},
	{
		id:  "ddb/queries/older-forms",
		doc: "Query takes KeyConditions, QueryFilter and AttributesToGet in place of expressions.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			out, err := e.c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &table, AttributesToGet: []string{"sk"},
				KeyConditions: map[string]types.Condition{
					"id": {ComparisonOperator: types.ComparisonOperatorEq, AttributeValueList: []types.AttributeValue{avS("p0")}},
					"sk": {ComparisonOperator: types.ComparisonOperatorGt, AttributeValueList: []types.AttributeValue{avN(3)}},
				},
				QueryFilter: map[string]types.Condition{
					"v": {ComparisonOperator: types.ComparisonOperatorEq, AttributeValueList: []types.AttributeValue{avN(2)}},
				},
			})
			must(t, "Query", err)
			equal(t, "sort keys, attributes", fmt.Sprint(sortKeys(out.Items), len(out.Items[0])), "[12 22] 1")
		},
	},
	{
		id:  "ddb/batches/get-stops-at-16-mb",
		doc: "BatchGetItem returns up to 16 MB, and the keys that it did not read as UnprocessedKeys.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			value := avS(strings.Repeat("x", 300_000))
			var keys []map[string]types.AttributeValue
			for i := range 60 {
				keys = append(keys, item{"id": avS(fmt.Sprint(i))})
				e.put(t, table, item{"id": avS(fmt.Sprint(i)), "v": value})
			}
			out, err := e.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}},
			})
			must(t, "BatchGetItem", err)
			equal(t, "items, keys left",
				fmt.Sprint(len(out.Responses[table]), ", ", len(out.UnprocessedKeys[table].Keys)), "55, 5")
		},
	},
	{
		id: "ddb/errors/of-expressions-are-counted",
		doc: "UpdateItem, PutItem and DeleteItem report an error of an expression as the first of the validation errors; a " +
			"scan and a transaction do not.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			twice := aws.String("SET a = id SET b = id")
			_, err := e.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: item{"id": avS("k")}, UpdateExpression: twice,
			})
			wantRejected(t, err)
			counted := strings.Contains(describe(err), ": 1 validation error detected: Invalid UpdateExpression: ")
			_, err = e.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{
					{Update: &types.Update{TableName: &table, Key: item{"id": avS("k")}, UpdateExpression: twice}},
				},
			})
			wantRejected(t, err)
			plain := strings.Contains(describe(err), ": Invalid UpdateExpression: ")
			equal(t, "counted in an update, plain in a transaction", fmt.Sprint(counted, " ", plain), "true true")
		},
	},
	{
		id:    "ddb/errors/all-at-once",
		doc:   "A request that breaks several rules of its parameters is told all of them.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			_, err := e.c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("a;"), Select: "all"})
			wantRejected(t, err)
			if got := describe(err); !strings.Contains(got, "3 validation errors detected: ") {
				t.Fatalf("got %s", got)
			}
		},
	},
}
