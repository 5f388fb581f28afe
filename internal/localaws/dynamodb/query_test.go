package dynamodb_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filled returns a service with 30 notes. p0 has the even sort keys, p1 the odd
// ones; owner is o0, o1 or o2 by sk modulo 3, v is sk modulo 5, and every tenth
// note has the rank 100 - sk.
func filled(t testing.TB) service {
	t.Helper()
	s := withTables(t)
	for i := range 30 {
		rank := ""
		if i%10 == 0 {
			rank = fmt.Sprintf(`,"rank":{"N":"%d"}`, 100-i)
		}
		body := fmt.Sprintf(`{"TableName":"notes","Item":{"id":{"S":"p%d"},"sk":{"N":"%d"},"owner":{"S":"o%d"},
			"v":{"N":"%d"},"text":{"S":"x"}%s}}`, i%2, i, i%3, i%5, rank)
		if _, err := s.call(t, "PutItem", body); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

type scalar struct{ S, N string }

type page struct {
	Items               []map[string]scalar
	Count, ScannedCount int
	LastEvaluatedKey    json.RawMessage
}

// pages reads to the end, at most limit items at a time (0 means no limit). It
// returns the sort keys, the number of items scanned and the number of pages.
func (s service) pages(t *testing.T, operation, members string, limit int) (keys []string, scanned, pages int) {
	t.Helper()
	start := ""
	for pages <= 100 {
		body := `{"TableName":"notes",` + members + start
		if limit > 0 {
			body += fmt.Sprintf(`,"Limit":%d`, limit)
		}
		answer, err := s.call(t, operation, body+"}")
		if err != nil {
			t.Fatal(err)
		}
		var p page
		if err := json.Unmarshal([]byte(answer), &p); err != nil {
			t.Fatal(err)
		}
		if p.Count != len(p.Items) {
			t.Fatalf("count %d of %d items", p.Count, len(p.Items))
		}
		for _, i := range p.Items {
			keys = append(keys, i["sk"].N)
		}
		scanned, pages = scanned+p.ScannedCount, pages+1
		if p.LastEvaluatedKey == nil {
			return keys, scanned, pages
		}
		start = `,"ExclusiveStartKey":` + string(p.LastEvaluatedKey)
	}
	t.Fatalf("no end after %d pages", pages)
	return nil, 0, 0
}

func query(condition, values string) string {
	return `"KeyConditionExpression":"` + condition + `","ExpressionAttributeNames":{"#o":"owner"},` +
		`"ExpressionAttributeValues":{` + values + `}`
}

func TestQueriesInPages(t *testing.T) {
	t.Parallel()
	noNames := func(s string) string { return strings.Replace(s, `"ExpressionAttributeNames":{"#o":"owner"},`, "", 1) }
	for _, c := range []struct {
		name, members  string
		limit          int
		want           string
		scanned, pages int
	}{
		{"a partition", noNames(query("id = :p", `":p":{"S":"p1"}`)), 0,
			"1 3 5 7 9 11 13 15 17 19 21 23 25 27 29", 15, 1},
		{"a full last page has a key", noNames(query("id = :p", `":p":{"S":"p1"}`)), 5,
			"1 3 5 7 9 11 13 15 17 19 21 23 25 27 29", 15, 4},
		{"a filter after the limit", noNames(query("id = :p AND sk BETWEEN :a AND :b",
			`":p":{"S":"p0"},":a":{"N":"2"},":b":{"N":"26"},":v":{"N":"2"}`)) + `,"FilterExpression":"v = :v"`, 4,
			"2 12 22", 13, 4},
		{"descending", noNames(query("id = :p AND sk > :a",
			`":p":{"S":"p1"},":a":{"N":"19"}`)) + `,"ScanIndexForward":false`, 2,
			"29 27 25 23 21", 5, 3},
		{"ascending on request", noNames(query("sk < :a AND id = :p",
			`":p":{"S":"p1"},":a":{"N":"6"}`)) + `,"ScanIndexForward":true`, 0,
			"1 3 5", 3, 1},
		{"an empty partition", noNames(query("id = :p", `":p":{"S":"p2"}`)), 3, "", 0, 1},
		{"a global index", query("#o = :o", `":o":{"S":"o1"}`) + `,"IndexName":"by-owner"`, 3,
			"1 4 7 10 13 16 19 22 25 28", 10, 4},
		{"a global index, descending", query("#o = :o AND sk <= :a", `":o":{"S":"o1"},":a":{"N":"10"}`) +
			`,"IndexName":"by-owner","ScanIndexForward":false`, 3, "10 7 4 1", 4, 2},
		{"a local index has the items with its key", noNames(query("id = :p", `":p":{"S":"p0"}`)) +
			`,"IndexName":"by-rank","ConsistentRead":true`, 2, "20 10 0", 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keys, scanned, pages := filled(t).pages(t, "Query", c.members, c.limit)
			got := fmt.Sprint(strings.Join(keys, " "), ", scanned ", scanned, ", pages ", pages)
			want := fmt.Sprint(c.want, ", scanned ", c.scanned, ", pages ", c.pages)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScansInPages(t *testing.T) {
	t.Parallel()
	keys, scanned, pages := filled(t).pages(t, "Scan",
		`"FilterExpression":"v = :v","ExpressionAttributeValues":{":v":{"N":"3"}}`, 7)
	slices.Sort(keys)
	if got := fmt.Sprint(keys, scanned, pages); got != "[13 18 23 28 3 8] 30 5" {
		t.Errorf("keys, scanned, pages: %s", got)
	}
	keys, scanned, _ = filled(t).pages(t, "Scan", `"IndexName":"by-rank"`, 1)
	slices.Sort(keys)
	if got := fmt.Sprint(keys, scanned); got != "[0 10 20] 3" {
		t.Errorf("of an index: %s", got)
	}
}

func TestPagesContinueAfterADeletedItem(t *testing.T) {
	t.Parallel()
	s := filled(t)
	s.run(t,
		step{"DeleteItem", `{"TableName":"notes","Key":{"id":{"S":"p0"},"sk":{"N":"4"}}}`, `{}`, ""},
		step{"Query", `{"TableName":"notes","Limit":1,"KeyConditionExpression":"id = :p",
			"ExpressionAttributeValues":{":p":{"S":"p0"}},
			"ExclusiveStartKey":{"id":{"S":"p0"},"sk":{"N":"4"}},"ProjectionExpression":"sk"}`,
			`{"Items":[{"sk":{"N":"6"}}],"Count":1,"ScannedCount":1,"LastEvaluatedKey":{"id":{"S":"p0"},"sk":{"N":"6"}}}`, ""})
}

func TestIndexesReturnTheirProjection(t *testing.T) {
	t.Parallel()
	const owner = `{"TableName":"notes","IndexName":"by-owner","Limit":1,"KeyConditionExpression":"#o = :o",
		"ExpressionAttributeNames":{"#o":"owner"},"ExpressionAttributeValues":{":o":{"S":"o0"}}`
	const rank = `{"TableName":"notes","IndexName":"by-rank","Limit":1,"KeyConditionExpression":"id = :p",
		"ExpressionAttributeValues":{":p":{"S":"p0"}}`
	filled(t).run(t,
		step{"Query", owner + `}`, `{"Count":1,"ScannedCount":1,
			"Items":[{"id":{"S":"p0"},"sk":{"N":"0"},"owner":{"S":"o0"},"v":{"N":"0"}}],
			"LastEvaluatedKey":{"id":{"S":"p0"},"sk":{"N":"0"},"owner":{"S":"o0"}}}`, ""},
		step{"Query", rank + `,"Select":"ALL_PROJECTED_ATTRIBUTES"}`, `{"Count":1,"ScannedCount":1,
			"Items":[{"id":{"S":"p0"},"sk":{"N":"20"},"rank":{"N":"80"}}],
			"LastEvaluatedKey":{"id":{"S":"p0"},"sk":{"N":"20"},"rank":{"N":"80"}}}`, ""},
		step{"Query", rank + `,"FilterExpression":"attribute_exists(v)","Select":"COUNT"}`,
			`{"Count":0,"ScannedCount":1,"LastEvaluatedKey":{"id":{"S":"p0"},"sk":{"N":"20"},"rank":{"N":"80"}}}`, ""})
}

func TestPageEndsAtOneMebibyte(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	for i := range 4 {
		body := fmt.Sprintf(`{"TableName":"notes","Item":{"id":{"S":"p"},"sk":{"N":"%d"},"v":{"S":%q}}}`,
			i, strings.Repeat("x", 390<<10))
		if _, err := s.call(t, "PutItem", body); err != nil {
			t.Fatal(err)
		}
	}
	keys, scanned, pages := s.pages(t, "Query",
		`"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":"p"}}`, 0)
	if got := fmt.Sprint(keys, scanned, pages); got != "[0 1 2 3] 4 2" {
		t.Errorf("keys, scanned, pages: %s", got)
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	const p = `"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":"p0"}}`
	const owner = `"IndexName":"by-owner","KeyConditionExpression":"#o = :p","ExpressionAttributeNames":{"#o":"owner"},
		"ExpressionAttributeValues":{":p":{"S":"o0"}}`
	for _, c := range []struct{ members, message string }{
		{`"Limit":1`, "KeyConditionExpression parameter must be specified"},
		{p + `,"Limit":0`, "at 'limit'"},
		{p + `,"Select":"SOME"`, "at 'select'"},
		{p + `,"Select":"SPECIFIC_ATTRIBUTES"`, "when choosing to get SPECIFIC_ATTRIBUTES"},
		{p + `,"Select":"COUNT","ProjectionExpression":"v"`, "when choosing to get only the Count"},
		{p + `,"Select":"ALL_PROJECTED_ATTRIBUTES"`, "only when Querying using an IndexName"},
		{owner + `,"Select":"ALL_ATTRIBUTES"`, "ALL_ATTRIBUTES is not supported for global secondary index by-owner"},
		{owner + `,"ProjectionExpression":"w"`, "Global secondary index by-owner does not project [w]"},
		{`"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":""}}`,
			"cannot contain an empty string value. Key: id"},
		{p + `,"IndexName":"by-nothing"`, "does not have the specified index: by-nothing"},
		{owner + `,"ConsistentRead":true`, "Consistent reads are not supported on global secondary indexes"},
		{p + `,"FilterExpression":"sk > :p"`, "Primary key attribute: sk"},
		{p + `,"FilterExpression":"v >"`, "Invalid FilterExpression: Syntax error"},
		{p + `,"ProjectionExpression":"v, v"`, "Invalid ProjectionExpression: Two document paths overlap"},
		{`"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"N":"1"}}`, "does not match schema type"},
		{`"KeyConditionExpression":"id = :p AND sk = :p","ExpressionAttributeValues":{":p":{"S":"1"}}`,
			"does not match schema type"},
		{`"KeyConditionExpression":"sk = :p","ExpressionAttributeValues":{":p":{"N":"1"}}`, "missed key schema element: id"},
		{`"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":"1"},":q":{"S":"1"}}`, "keys: {:q}"},
		{p + `,"ExclusiveStartKey":{"id":{"S":"p0"}}`, "starting key is invalid"},
		{p + `,"ExclusiveStartKey":{"id":{"S":"p0"},"sk":{"S":"1"}}`, "provided key element does not match the schema"},
		{p + `,"ExclusiveStartKey":{"id":{"S":"p0"},"sk":{"N":"1"},"v":{"N":"1"}}`, "starting key is invalid"},
		{p + `,"ExclusiveStartKey":{"id":{"S":"p1"},"sk":{"N":"1"}}`, "outside query boundaries"},
		{owner + `,"ExclusiveStartKey":{"owner":{"S":"o0"},"sk":{"N":"1"}}`, "starting key is invalid"},
	} {
		_, err := withTables(t).call(t, "Query", `{"TableName":"notes",`+c.members+`}`)
		wantRefused(t, err, "ValidationException: "+c.message)
	}
}

func TestScansThatAreRefused(t *testing.T) {
	t.Parallel()
	for members, message := range map[string]string{
		`"FilterExpression":"v = :v"`:                                   "attribute value: :v",
		`"ExpressionAttributeValues":{":v":{"N":"1"}}`:                  "only be specified when using expressions",
		`"IndexName":"by-owner","ConsistentRead":true`:                  "Consistent reads are not supported",
		`"ExclusiveStartKey":{"sk":{"N":"1"}}`:                          "starting key is invalid",
		`"ReturnConsumedCapacity":"ALL"`:                                "at 'returnConsumedCapacity'",
		`"Segment":1`:                                                   "The TotalSegments parameter is required",
		`"TotalSegments":1`:                                             "The Segment parameter is required",
		`"Segment":2,"TotalSegments":2`:                                 "Segment: 2 is not less than TotalSegments: 2",
		`"FilterExpression":"v = :v","ExpressionAttributeValues":{}`:    "must not be empty",
		`"FilterExpression":"a.b","ExpressionAttributeNames":{"#":"x"}`: "invalid key",
	} {
		_, err := withTables(t).call(t, "Scan", `{"TableName":"notes",`+members+`}`)
		wantRefused(t, err, "ValidationException: "+message)
	}
}
