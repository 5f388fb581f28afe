package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func sortKeys(items []map[string]types.AttributeValue) []string {
	var ks []string
	for _, it := range items {
		ks = append(ks, show(it, "sk"))
	}
	return ks
}

// fill makes a table of 30 items: p0 has the even sort keys, p1 the odd ones;
// owner is o0, o1 or o2 by sk modulo 3, and v is sk modulo 5.
func (e *ddbEnv) fill(t T) (table string) {
	t.Helper()
	table = e.sortedTable(t)
	for i := range 30 {
		e.put(
			t,
			table,
			item{
				"id":    avS("p" + strconv.Itoa(i%2)),
				"sk":    avN(int64(i)),
				"owner": avS("o" + strconv.Itoa(i%3)),
				"v":     avN(int64(i % 5)),
			},
		)
	}
	return table
}

var ddbQueryChecks = []check[*ddbEnv]{
	{
		id: "ddb/queries/pages",
		doc: "Query takes a key condition with BETWEEN and a filter; Limit is the number of items evaluated, before " +
			"the filter, and LastEvaluatedKey starts the next page.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			pages, scanned := 0, int32(0)
			var ks []string
			pg := dynamodb.NewQueryPaginator(e.c, &dynamodb.QueryInput{
				TableName: &table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(4),
				KeyConditionExpression: aws.String("id = :p AND sk BETWEEN :a AND :b"), FilterExpression: aws.String("v = :v"),
				ExpressionAttributeValues: item{":p": avS("p0"), ":a": avN(2), ":b": avN(26), ":v": avN(2)},
			})
			for ; pg.HasMorePages(); pages++ {
				out, err := pg.NextPage(t.Context())
				must(t, "Query", err)
				scanned += out.ScannedCount
				ks = append(ks, sortKeys(out.Items)...)
			}
			// The sort keys 2, 4, … 26 are 13; v is 2 for 2, 12 and 22.
			equal(
				t, "sort keys, scanned, pages", fmt.Sprint(strings.Join(ks, " "), ", ", scanned, ", ", pages), "2 12 22, 13, 4",
			)
		},
	},
	{
		id:  "ddb/queries/descending",
		doc: "Query with ScanIndexForward false returns the items by descending sort key; numbers are ordered as numbers.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			out, err := e.c.Query(
				t.Context(),
				&dynamodb.QueryInput{
					TableName:                 &table,
					ConsistentRead:            aws.Bool(true),
					KeyConditionExpression:    aws.String("id = :p AND sk > :a"),
					ExpressionAttributeValues: item{":p": avS("p1"), ":a": avN(3)},
					ScanIndexForward:          aws.Bool(false),
				},
			)
			must(t, "Query", err)
			equal(t, "sort keys", strings.Join(sortKeys(out.Items), " "), "29 27 25 23 21 19 17 15 13 11 9 7 5")
		},
	},
	{
		id:  "ddb/queries/index",
		doc: "Query of a global secondary index returns the items (eventually) by its keys, in pages.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			eventually(t, 0, func() error {
				var ks []string
				pg := dynamodb.NewQueryPaginator(e.c, &dynamodb.QueryInput{
					TableName: &table, IndexName: aws.String("byowner"), Limit: aws.Int32(3),
					KeyConditionExpression:    aws.String("#o = :o"),
					ExpressionAttributeNames:  map[string]string{"#o": "owner"},
					ExpressionAttributeValues: item{":o": avS("o1")},
				})
				for pg.HasMorePages() {
					out, err := pg.NextPage(t.Context())
					must(t, "Query", err)
					ks = append(ks, sortKeys(out.Items)...)
				}
				if got, want := strings.Join(ks, " "), "1 4 7 10 13 16 19 22 25 28"; got != want {
					return fmt.Errorf("sort keys: got %s, want %s", got, want)
				}
				return nil
			})
		},
	},
	{
		id:  "ddb/queries/scan",
		doc: "Scan with a filter and a Limit evaluates all items, in pages.",
		run: func(t T, e *ddbEnv) {
			table := e.fill(t)
			scanned := int32(0)
			var ks []string
			pg := dynamodb.NewScanPaginator(e.c, &dynamodb.ScanInput{
				TableName: &table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(7),
				FilterExpression: aws.String("v = :v"), ExpressionAttributeValues: item{":v": avN(3)},
			})
			for pg.HasMorePages() {
				out, err := pg.NextPage(t.Context())
				must(t, "Scan", err)
				scanned += out.ScannedCount
				ks = append(ks, sortKeys(out.Items)...)
			}
			slices.Sort(ks)
			equal(t, "sort keys, scanned", fmt.Sprint(strings.Join(ks, " "), ", ", scanned), "13 18 23 28 3 8, 30")
		},
	},
	{
		id:  "ddb/queries/projection",
		doc: "GetItem with a ProjectionExpression returns the attributes that it names.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "a": avN(1), "b": avN(2)})
			out, err := e.c.GetItem(
				t.Context(),
				&dynamodb.GetItemInput{
					TableName:            &table,
					Key:                  item{"id": avS("k")},
					ProjectionExpression: aws.String("a"),
					ConsistentRead:       aws.Bool(true),
				},
			)
			must(t, "GetItem", err)
			equal(t, "a, attributes", fmt.Sprint(show(out.Item, "a"), ", ", len(out.Item)), "1, 1")
		},
	},
}
