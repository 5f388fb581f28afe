package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"
)

// puts returns n put requests for a batch.
func puts(n int) string {
	requests := make([]string, n)
	for i := range requests {
		requests[i] = fmt.Sprintf(`{"PutRequest":{"Item":{"id":{"S":"k%d"}}}}`, i)
	}
	return strings.Join(requests, ",")
}

func writeJobs(requests string) string { return `{"RequestItems":{"jobs":[` + requests + `]}}` }

func TestBatchWriteItem(t *testing.T) {
	t.Parallel()
	const deletion = `{"DeleteRequest":{"Key":{"id":{"S":"k0"}}}}`
	const done = `{"UnprocessedItems":{}}`
	withTables(t).run(t,
		step{"BatchWriteItem", writeJobs(puts(25)), done, ""},
		step{"BatchWriteItem", `{"RequestItems":{"jobs":[` + deletion + `],
			"notes":[{"PutRequest":{"Item":{"id":{"S":"k0"},"sk":{"N":"1"}}}}]}}`, done, ""},
		step{"Scan", `{"TableName":"jobs","Select":"COUNT"}`, `{"Count":24,"ScannedCount":24}`, ""},
		step{"Scan", `{"TableName":"notes","Select":"COUNT"}`, `{"Count":1,"ScannedCount":1}`, ""},
		step{"BatchWriteItem", writeJobs(puts(26)), "", "ValidationException: at 'requestItems'"},
		step{"BatchWriteItem", writeJobs(""), "", "ValidationException: at 'requestItems'"},
		step{"BatchWriteItem", writeJobs(puts(1) + "," + deletion), "", "ValidationException: contains duplicates"},
		step{"BatchWriteItem", writeJobs(`{}`), "",
			"ValidationException: must contain exactly one of the supported datatypes"},
		step{"BatchWriteItem", writeJobs(puts(2) + `,{"PutRequest":{"Item":{}}}`), "",
			"ValidationException: The provided key element does not match the schema"},
		step{"BatchWriteItem", `{"RequestItems":{"none":[` + deletion + `]}}`, "", "ResourceNotFoundException"},
		step{"Scan", `{"TableName":"jobs","Select":"COUNT"}`, `{"Count":24,"ScannedCount":24}`, ""})
}

func TestBatchGetItem(t *testing.T) {
	t.Parallel()
	keys := func(ids ...string) string {
		all := make([]string, len(ids))
		for i, id := range ids {
			all[i] = `{"id":{"S":"` + id + `"}}`
		}
		return `"Keys":[` + strings.Join(all, ",") + `]`
	}
	get := func(table, members string) string { return `{"RequestItems":{"` + table + `":{` + members + `}}}` }
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("k", i)
	}
	withTables(t).run(t,
		step{"BatchWriteItem", writeJobs(puts(3)), "", ""},
		step{"BatchGetItem", get("jobs", keys("k2", "none", "k0")+`,"ConsistentRead":true`),
			`{"Responses":{"jobs":[{"id":{"S":"k2"}},{"id":{"S":"k0"}}]},"UnprocessedKeys":{}}`, ""},
		step{"BatchGetItem", get("jobs", keys("none")), `{"Responses":{"jobs":[]},"UnprocessedKeys":{}}`, ""},
		step{"BatchGetItem", get("jobs", keys("k1")+`,"ProjectionExpression":"v"`),
			`{"Responses":{"jobs":[{}]},"UnprocessedKeys":{}}`, ""},
		step{"BatchGetItem", get("jobs", keys("k1", "k1")), "", "ValidationException: contains duplicates"},
		step{"BatchGetItem", get("jobs", keys()), "", "ValidationException: at 'requestItems.jobs.member.keys'"},
		step{"BatchGetItem", get("jobs", keys(many...)), "", "ValidationException: at 'requestItems.jobs.member.keys'"},
		step{"BatchGetItem", get("jobs", keys("k1")+`,"ProjectionExpression":"a,"`), "", "ValidationException: Syntax error"},
		step{"BatchGetItem", get("notes", keys("k1")), "", "ValidationException: does not match the schema"},
		step{"BatchGetItem", get("none", keys("k1")), "", "ResourceNotFoundException"})
}
