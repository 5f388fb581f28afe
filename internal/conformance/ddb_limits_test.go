package conformance_test

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// putNew puts an item into a table of its own.
func (e *ddbEnv) putNew(t T, it item) error {
	t.Helper()
	table := e.table(t)
	_, err := e.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it})
	return err
}

// putNewIf puts an item with a condition into a table of its own.
func (e *ddbEnv) putNewIf(t T, cond string, values item) error {
	t.Helper()
	table := e.table(t)
	_, err := e.c.PutItem(
		t.Context(),
		&dynamodb.PutItemInput{
			TableName:                 &table,
			Item:                      item{"id": avS("k")},
			ConditionExpression:       &cond,
			ExpressionAttributeValues: values,
		},
	)
	return err
}

var ddbLimitChecks = []check[*ddbEnv]{
	{
		id:  "ddb/limits/item-of-399-kib",
		doc: "An item can have up to 400 KB (409,600 bytes), attribute names included.",
		run: func(t T, e *ddbEnv) {
			must(t, "PutItem", e.putNew(t, item{"id": avS("k"), "v": avS(strings.Repeat("x", 399<<10))}))
		},
	},
	{
		id:  "ddb/limits/item-over-400-kib-rejected",
		doc: "An item cannot have more than 400 KB (409,600 bytes), attribute names included.",
		run: func(t T, e *ddbEnv) {
			wantRejected(t, e.putNew(t, item{"id": avS("k"), "v": avS(strings.Repeat("x", 400<<10))}))
		},
	},
	{
		id:  "ddb/limits/update-over-400-kib-rejected",
		doc: "UpdateItem cannot let an item grow over 400 KB.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "v": avS(strings.Repeat("x", 300<<10))})
			_, err := e.c.UpdateItem(
				t.Context(), updateInput(table, "SET w = :w", item{":w": avS(strings.Repeat("x", 150<<10))}),
			)
			wantRejected(t, err)
		},
	},
	{
		id:  "ddb/limits/empty-key-rejected",
		doc: "A key attribute of type String must not be empty.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNew(t, item{"id": avS("")})) },
	},
	{
		id:  "ddb/limits/empty-string",
		doc: "An attribute of type String that is no key can be empty.",
		run: func(t T, e *ddbEnv) { must(t, "PutItem", e.putNew(t, item{"id": avS("k"), "v": avS("")})) },
	},
	{
		id:  "ddb/limits/missing-key-rejected",
		doc: "PutItem: all of the primary key attributes are required.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNew(t, item{"v": avS("x")})) },
	},
	{
		id:  "ddb/limits/key-type-rejected",
		doc: "PutItem: the data types of the key attributes must match those of the table's definition.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNew(t, item{"id": avN(1)})) },
	},
	{
		id:  "ddb/limits/key-over-2048-bytes-rejected",
		doc: "A partition key value has 2,048 bytes at most.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNew(t, item{"id": avS(strings.Repeat("k", 2049))})) },
	},
	{
		id:        "ddb/limits/unused-value-rejected",
		doc:       "A request with an expression attribute value that no expression uses fails with ValidationException.",
		debatable: "the documentation is silent; recordings of the real service show the refusal",
		run:       func(t T, e *ddbEnv) { wantRejected(t, e.putNewIf(t, "attribute_not_exists(id)", item{":x": avN(1)})) },
	},
	{
		id:  "ddb/limits/undefined-value-rejected",
		doc: "Each expression attribute value that an expression uses must be defined.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNewIf(t, "id = :nope", nil)) },
	},
	{
		id: "ddb/limits/reserved-word-rejected",
		doc: "A reserved word such as status is no attribute name in an expression, only by an expression attribute " +
			"name (#).",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNewIf(t, "attribute_not_exists(status)", nil)) },
	},
	{
		id:  "ddb/limits/syntax-error-rejected",
		doc: "An expression with a syntax error is rejected.",
		run: func(t T, e *ddbEnv) { wantRejected(t, e.putNewIf(t, "attribute_not_exists(id) AND OR", nil)) },
	},
	{
		id:  "ddb/limits/update-of-key-rejected",
		doc: "UpdateItem cannot update a primary key attribute.",
		run: func(t T, e *ddbEnv) {
			_, err := e.c.UpdateItem(t.Context(), updateInput(e.table(t), "SET id = :x", item{":x": avS("y")}))
			wantRejected(t, err)
		},
	},
}
