package conformance_test

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (e *ddbEnv) write(t T, table string, w ...types.WriteRequest) error {
	out, err := e.c.BatchWriteItem(
		t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: w}},
	)
	if err == nil && len(out.UnprocessedItems) > 0 {
		return fmt.Errorf("%d unprocessed items", len(out.UnprocessedItems[table]))
	}
	return err
}

func puts(n int) []types.WriteRequest {
	w := make([]types.WriteRequest, n)
	for i := range w {
		w[i].PutRequest = &types.PutRequest{Item: item{"id": avS(strconv.Itoa(i))}}
	}
	return w
}

func (e *ddbEnv) transact(t T, token *string, items ...types.TransactWriteItem) error {
	_, err := e.c.TransactWriteItems(
		t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: token, TransactItems: items},
	)
	return err
}

var ddbBatchChecks = []check[*ddbEnv]{
	{
		id:  "ddb/batches/write",
		doc: "BatchWriteItem puts and deletes up to 25 items.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			must(t, "BatchWriteItem of 25 puts", e.write(t, table, puts(25)...))
			must(
				t, "BatchWriteItem of a delete",
				e.write(t, table, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: item{"id": avS("0")}}}),
			)
			out, err := e.c.Scan(
				t.Context(), &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount, ConsistentRead: aws.Bool(true)},
			)
			must(t, "Scan", err)
			equal(t, "count", out.Count, 24)
		},
	},
	{
		id:  "ddb/batches/write-26-rejected",
		doc: "BatchWriteItem of more than 25 requests is rejected.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.write(t, e.table(t), puts(26)...)) },
	},
	{
		id:  "ddb/batches/write-duplicate-rejected",
		doc: "BatchWriteItem with two requests for the same item is rejected.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.write(t, e.table(t), append(puts(1), puts(1)...)...)) },
	},
	{
		id:  "ddb/batches/get",
		doc: "BatchGetItem returns the items that exist.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("a")})
			e.put(t, table, item{"id": avS("b")})
			out, err := e.c.BatchGetItem(
				t.Context(),
				&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					table: {
						Keys:           []map[string]types.AttributeValue{{"id": avS("a")}, {"id": avS("b")}, {"id": avS("none")}},
						ConsistentRead: aws.Bool(true),
					},
				}},
			)
			must(t, "BatchGetItem", err)
			equal(t, "items", len(out.Responses[table]), 2)
		},
	},
	{
		id:  "ddb/batches/transaction-commits",
		doc: "TransactWriteItems carries out Put, Update, Delete and ConditionCheck together.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("b"), "n": avN(1)})
			e.put(t, table, item{"id": avS("c")})
			must(t, "TransactWriteItems", e.transact(
				t,
				nil,
				types.TransactWriteItem{
					Put: &types.Put{
						TableName:           &table,
						Item:                item{"id": avS("a")},
						ConditionExpression: aws.String("attribute_not_exists(id)"),
					},
				},
				types.TransactWriteItem{
					Update: &types.Update{
						TableName:                 &table,
						Key:                       item{"id": avS("b")},
						UpdateExpression:          aws.String("SET n = n + :one"),
						ExpressionAttributeValues: item{":one": avN(1)},
					},
				},
				types.TransactWriteItem{Delete: &types.Delete{TableName: &table, Key: item{"id": avS("c")}}},
				types.TransactWriteItem{
					ConditionCheck: &types.ConditionCheck{
						TableName:           &table,
						Key:                 item{"id": avS("zz")},
						ConditionExpression: aws.String("attribute_not_exists(id)"),
					},
				},
			))
			equal(
				t,
				"a, b.n, c",
				fmt.Sprint(
					show(e.get(t, table, "a"), "id"), ", ", show(e.get(t, table, "b"), "n"), ", ", show(e.get(t, table, "c"), "id"),
				),
				"a, 2, none",
			)
		},
	},
	{
		id: "ddb/batches/transaction-cancelled",
		doc: "TransactWriteItems with a false condition changes nothing and fails with TransactionCanceledException, " +
			"whose reasons are in the order of the items: None, and ConditionalCheckFailed with the item (ALL_OLD).",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("b"), "n": avN(1)})
			err := e.transact(
				t,
				nil,
				types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item{"id": avS("a")}}},
				types.TransactWriteItem{
					Put: &types.Put{
						TableName:                           &table,
						Item:                                item{"id": avS("b")},
						ConditionExpression:                 aws.String("attribute_not_exists(id)"),
						ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
					},
				},
			)
			var cancelled *types.TransactionCanceledException
			if !errors.As(err, &cancelled) {
				t.Fatalf("want TransactionCanceledException, got %s", describe(err))
			}
			equal(t, "attributes of a", len(e.get(t, table, "a")), 0)
			if n := len(cancelled.CancellationReasons); n != 2 {
				t.Fatalf("%d cancellation reasons, want 2", n)
			}
			r := cancelled.CancellationReasons
			equal(
				t, "reasons, n of the item",
				fmt.Sprint(aws.ToString(r[0].Code), ", ", aws.ToString(r[1].Code), ", ", show(r[1].Item, "n")),
				"None, ConditionalCheckFailed, 1",
			)
		},
	},
	{
		id:  "ddb/batches/transaction-same-item-rejected",
		doc: "TransactWriteItems with two actions on the same item is rejected.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			wantRejected(t, e.transact(t, nil,
				types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item{"id": avS("a")}}},
				types.TransactWriteItem{Delete: &types.Delete{TableName: &table, Key: item{"id": avS("a")}}}))
		},
	},
	{
		id:  "ddb/batches/transaction-token",
		doc: "TransactWriteItems: identical calls with the same ClientRequestToken have the effect of a single one.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("c"), "n": avN(0)})
			token := unique("")
			for range 2 {
				must(t, "TransactWriteItems", e.transact(
					t,
					&token,
					types.TransactWriteItem{
						Update: &types.Update{
							TableName:                 &table,
							Key:                       item{"id": avS("c")},
							UpdateExpression:          aws.String("ADD n :one"),
							ExpressionAttributeValues: item{":one": avN(1)},
						},
					},
				))
			}
			equal(t, "n", show(e.get(t, table, "c"), "n"), "1")
		},
	},
	{
		id:  "ddb/batches/transaction-get",
		doc: "TransactGetItems returns a response for each key, in order, an empty one for an item that does not exist.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("a"), "n": avN(3)})
			out, err := e.c.TransactGetItems(
				t.Context(),
				&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
					{
						Get: &types.Get{TableName: &table, Key: item{"id": avS("a")}},
					},
					{Get: &types.Get{TableName: &table, Key: item{"id": avS("none")}}},
				}},
			)
			must(t, "TransactGetItems", err)
			if n := len(out.Responses); n != 2 {
				t.Fatalf("%d responses, want 2", n)
			}
			equal(
				t, "n, attributes of the missing item",
				fmt.Sprint(show(out.Responses[0].Item, "n"), ", ", len(out.Responses[1].Item)), "3, 0",
			)
		},
	},
}
