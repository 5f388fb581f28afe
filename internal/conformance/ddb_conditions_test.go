package conformance_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ddbConditionChecks = []check[*ddbEnv]{
	{
		id:  "ddb/conditions/no-item-unless-asked",
		doc: "ConditionalCheckFailedException carries no item unless ReturnValuesOnConditionCheckFailure asks for it.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k")})
			_, err := e.c.PutItem(
				t.Context(),
				&dynamodb.PutItemInput{
					TableName:           &table,
					Item:                item{"id": avS("k")},
					ConditionExpression: aws.String("attribute_not_exists(id)"),
				},
			)
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				t.Fatalf("want ConditionalCheckFailedException, got %s", describe(err))
			}
			equal(t, "attributes of the item", len(failed.Item), 0)
		},
	},
	{
		id: "ddb/conditions/delete",
		doc: "DeleteItem deletes only when its condition is true, and else fails with " +
			"ConditionalCheckFailedException, which carries the item (ALL_OLD).",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "v": avN(1)})
			del := func(v int64) error {
				_, err := e.c.DeleteItem(
					t.Context(),
					&dynamodb.DeleteItemInput{
						TableName:           &table,
						Key:                 item{"id": avS("k")},
						ConditionExpression: aws.String("v = :v"),
						ExpressionAttributeValues: item{
							":v": avN(v),
						},
						ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
					},
				)
				return err
			}
			err := del(2)
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				t.Fatalf("want ConditionalCheckFailedException, got %s", describe(err))
			}
			equal(t, "v of the item of the exception", show(failed.Item, "v"), "1")
			must(t, "DeleteItem", del(1))
			equal(t, "attributes left", len(e.get(t, table, "k")), 0)
		},
	},
	{
		id: "ddb/conditions/operators",
		doc: "Condition expressions have the comparators, BETWEEN, IN, AND, OR, NOT, and the functions " +
			"attribute_exists, attribute_not_exists, attribute_type, begins_with, contains and size, on nested paths " +
			"too; AND binds more closely than OR.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{
				"id": avS("k"),
				"n":  avN(10),
				"s":  avS("hello"),
				"l":  avL(avS("a")),
				"ss": &types.AttributeValueMemberSS{
					Value: []string{"x", "y"},
				},
				"m": &types.AttributeValueMemberM{Value: item{"in": avN(5)}},
			})
			values := item{
				":two":  avN(2),
				":ten":  avN(10),
				":cent": avN(100),
				":he":   avS("he"),
				":x":    avS("x"),
				":a":    avS("a"),
				":one":  avN(1),
				":five": avN(5),
				":N":    avS("N"),
			}
			var wrong []string
			for expr, want := range map[string]bool{
				"n BETWEEN :two AND :cent AND begins_with(s, :he)": true,
				"n IN (:two, :ten)":                                  true,
				"n > :two AND n < :cent":                             true,
				"contains(ss, :x) AND contains(l, :a)":               true,
				"size(l) = :one AND size(s) = :five":                 true,
				"NOT n = :ten":                                       false,
				"n <> :ten OR m.#in = :five":                         true,
				"attribute_type(n, :N)":                              true,
				"l[0] = :a":                                          true,
				"attribute_not_exists(zz) AND NOT contains(ss, :he)": true,
				"n = :two OR n = :cent AND n = :ten":                 false,
			} {
				in := &dynamodb.UpdateItemInput{
					TableName:                 &table,
					Key:                       item{"id": avS("k")},
					UpdateExpression:          aws.String("REMOVE nosuch"),
					ConditionExpression:       aws.String(expr),
					ExpressionAttributeValues: item{},
				}
				for _, w := range strings.FieldsFunc(expr, func(r rune) bool { return strings.ContainsRune(" (),", r) }) {
					if v, ok := values[w]; ok {
						in.ExpressionAttributeValues[w] = v
					}
				}
				if strings.Contains(expr, "#in") {
					in.ExpressionAttributeNames = map[string]string{"#in": "in"}
				}
				_, err := e.c.UpdateItem(t.Context(), in)
				switch {
				case err != nil && !isError[*types.ConditionalCheckFailedException](err):
					wrong = append(wrong, expr+": "+describe(err))
				case (err == nil) != want:
					wrong = append(wrong, fmt.Sprintf("%s: %v", expr, err == nil))
				}
			}
			if len(wrong) > 0 {
				slices.Sort(wrong)
				t.Fatalf("%s", strings.Join(wrong, "; "))
			}
		},
	},
	{
		id: "ddb/conditions/concurrent-puts",
		doc: "Of 64 conditional puts of one key at the same time exactly one wins (50 rounds): conditional writes are " +
			"atomic.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			bad := ""
			for r := range 50 {
				if s := e.race(t, table, "r"+strconv.Itoa(r), time.Now()); s != "" {
					bad += fmt.Sprintf("(round %d: %s) ", r, s)
				}
			}
			equal(t, "bad rounds", bad, "")
		},
	},
	{
		id: "ddb/conditions/concurrent-takeovers",
		doc: "Of 64 conditional puts over one timed-out record at the same time exactly one wins (20 rounds): " +
			"conditional writes are atomic.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			bad := ""
			for r := range 20 {
				id := "r" + strconv.Itoa(r)
				it := record{"INPROGRESS", time.Hour, -time.Hour}.item(time.Now())
				it["id"] = avS(id)
				e.put(t, table, it)
				if s := e.race(t, table, id, time.Now()); s != "" {
					bad += fmt.Sprintf("(round %d: %s) ", r, s)
				}
			}
			equal(t, "bad rounds", bad, "")
		},
	},
	{
		id:  "ddb/conditions/concurrent-adds",
		doc: "No increment of an atomic counter (ADD) is lost among 64 clients.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			var failed atomic.Int64
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					for range 5 {
						if _, err := e.c.UpdateItem(t.Context(), updateInput(table, "ADD n :one", item{":one": avN(1)})); err != nil {
							failed.Add(1)
						}
					}
				})
			}
			wg.Wait()
			equal(t, "n, failed", show(e.get(t, table, "k"), "n")+", "+strconv.FormatInt(failed.Load(), 10), "320, 0")
		},
	},
}
