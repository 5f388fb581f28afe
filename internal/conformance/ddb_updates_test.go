package conformance_test

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ddbUpdateChecks = []check[*ddbEnv]{
	{
		id: "ddb/updates/set-and-remove",
		doc: "UpdateItem: SET with values, list_append, if_not_exists and arithmetic, and REMOVE, in one expression " +
			"with a condition.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "l": avL(avS("a")), "gone": avS("x"), "st": avS("A")})
			in := updateInput(table, "SET l = list_append(l, :l), n = if_not_exists(n, :five) + :one, st = :b REMOVE gone",
				item{":l": avL(avS("b")), ":five": avN(5), ":one": avN(1), ":a": avS("A"), ":b": avS("B")})
			in.ConditionExpression = aws.String("st = :a")
			got := e.update(t, in)
			equal(
				t, "l, n, st, gone",
				fmt.Sprint(show(got, "l"), ", ", show(got, "n"), ", ", show(got, "st"), ", ", show(got, "gone")),
				"list of 2, 6, B, none",
			)
		},
	},
	{
		id: "ddb/updates/failed-condition",
		doc: "UpdateItem whose condition is false changes nothing; ConditionalCheckFailedException carries the item " +
			"(ALL_OLD).",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "st": avS("A")})
			in := updateInput(table, "SET st = :b", item{":b": avS("B")})
			in.ConditionExpression = aws.String("st = :b")
			in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			_, err := e.c.UpdateItem(t.Context(), in)
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				t.Fatalf("want ConditionalCheckFailedException, got %s", describe(err))
			}
			equal(t, "st of the exception and stored", show(failed.Item, "st")+" "+show(e.get(t, table, "k"), "st"), "A A")
		},
	},
	{
		id:  "ddb/updates/creates-item",
		doc: "UpdateItem adds an item that does not exist.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			equal(t, "id", show(e.update(t, updateInput(table, "SET a = :a", item{":a": avN(1)})), "id"), "k")
		},
	},
	{
		id: "ddb/updates/nested-list-and-sets",
		doc: "UpdateItem: SET of a nested attribute and of a list element, REMOVE of a list element, DELETE from a " +
			"set, ADD to a missing number.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(
				t,
				table,
				item{
					"id": avS("k"),
					"m":  &types.AttributeValueMemberM{Value: item{"a": avN(1)}},
					"l":  avL(avN(1), avN(2)),
					"ss": &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
				},
			)
			got := e.update(
				t,
				updateInput(
					table, "SET m.b = :v, l[0] = :v REMOVE l[1] DELETE ss :d ADD n :v",
					item{":v": avN(9), ":d": &types.AttributeValueMemberSS{Value: []string{"a"}}},
				),
			)
			var m item
			if v, ok := got["m"].(*types.AttributeValueMemberM); ok {
				m = v.Value
			}
			first := "none"
			if v, ok := got["l"].(*types.AttributeValueMemberL); ok && len(v.Value) > 0 {
				first = show(item{"x": v.Value[0]}, "x")
			}
			equal(
				t,
				"m.a, m.b, l, l[0], ss, n",
				fmt.Sprint(
					show(m, "a"), ", ", show(m, "b"), ", ", show(got, "l"), ", ", first, ", ", show(got, "ss"), ", ", show(got, "n"),
				),
				"1, 9, list of 1, 9, [b], 9",
			)
		},
	},
	{
		id:  "ddb/updates/return-values",
		doc: "ReturnValues: ALL_OLD of PutItem is the item before, UPDATED_NEW of UpdateItem the updated attributes after.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "v": avN(1), "w": avN(7)})
			out, err := e.c.PutItem(
				t.Context(),
				&dynamodb.PutItemInput{
					TableName:    &table,
					Item:         item{"id": avS("k"), "v": avN(2), "w": avN(7)},
					ReturnValues: types.ReturnValueAllOld,
				},
			)
			must(t, "PutItem", err)
			in := updateInput(table, "SET v = v + :one", item{":one": avN(1)})
			in.ReturnValues = types.ReturnValueUpdatedNew
			got := e.update(t, in)
			equal(
				t, "old v, new v, attributes", fmt.Sprint(show(out.Attributes, "v"), ", ", show(got, "v"), ", ", len(got)),
				"1, 3, 1",
			)
		},
	},
	{
		id:  "ddb/updates/number-of-38-digits",
		doc: "A number has up to 38 digits of precision.",
		run: func(t T, e *ddbEnv) {
			const n = "12345678901234567890123456789012345678"
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "n": avNum(n)})
			equal(t, "n", show(e.get(t, table, "k"), "n"), n)
		},
	},
	{
		id:  "ddb/updates/exact-arithmetic",
		doc: "Arithmetic in an update is exact beyond the precision of a 64-bit float.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "n": avNum("9007199254740993")})
			equal(
				t, "n", show(e.update(t, updateInput(table, "SET n = n + :one", item{":one": avN(1)})), "n"), "9007199254740994",
			)
		},
	},
	{
		id:  "ddb/updates/exact-comparison",
		doc: "Comparison of numbers in a condition is exact beyond the precision of a 64-bit float.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "n": avNum("9007199254740993")})
			in := updateInput(table, "SET x = :v", item{":v": avNum("9007199254740992")})
			in.ConditionExpression = aws.String("n > :v")
			e.update(t, in)
		},
	},
}
