package dynamodb_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func TestSortKeysAreInTheOrderOfTheirType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dataType, values, want string }{
		{"N", "10 9 -1 -10 0.5 1E3 -0.25 0", "-10 -1 -0.25 0 0.5 9 10 1000"},
		{"S", "b a B 10 9 é z aa", "10 9 B a aa b z é"},
		{"B", "/w== AQ== AQI= AA== gA==", "AA== AQ== AQI= gA== /w=="},
	} {
		t.Run(c.dataType, func(t *testing.T) {
			t.Parallel()
			s := newService()
			s.run(t, step{operation: "CreateTable", body: fmt.Sprintf(`{"TableName":"sorted","BillingMode":"PAY_PER_REQUEST",
				"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"sk","AttributeType":%q}],
				"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`, c.dataType)})
			for v := range strings.FieldsSeq(c.values) {
				s.run(t, step{operation: "PutItem", body: fmt.Sprintf(
					`{"TableName":"sorted","Item":{"id":{"S":"p"},"sk":{%q:%q}}}`, c.dataType, v)})
			}
			if got := s.sortKeys(t, ""); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			reversed := strings.Fields(c.want)
			slices.Reverse(reversed)
			if got := s.sortKeys(t, `,"ScanIndexForward":false`); got != strings.Join(reversed, " ") {
				t.Errorf("descending: got %s", got)
			}
		})
	}
}

// sortKeys queries the partition p of the table "sorted".
func (s service) sortKeys(t *testing.T, members string) string {
	t.Helper()
	answer, err := s.call(t, "Query", `{"TableName":"sorted","KeyConditionExpression":"id = :p",
		"ExpressionAttributeValues":{":p":{"S":"p"}}`+members+`}`)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Items []map[string]map[string]string
	}
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, i := range p.Items {
		for _, v := range i["sk"] {
			keys = append(keys, v)
		}
	}
	return strings.Join(keys, " ")
}

func TestSortKeysBeginWith(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(t, step{operation: "CreateTable", body: `{"TableName":"sorted","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`})
	for _, sk := range []string{"step#2", "step#1", "stem", "step", "steq"} {
		s.run(t, step{operation: "PutItem", body: `{"TableName":"sorted","Item":{"id":{"S":"p"},"sk":{"S":"` + sk + `"}}}`})
	}
	s.run(t, step{"Query", `{"TableName":"sorted","ProjectionExpression":"sk",
		"KeyConditionExpression":"id = :p AND begins_with(sk, :s)",
		"ExpressionAttributeValues":{":p":{"S":"p"},":s":{"S":"step#"}}}`,
		`{"Items":[{"sk":{"S":"step#1"}},{"sk":{"S":"step#2"}}],"Count":2,"ScannedCount":2}`, ""})
}

// Pages of any size add up to the same items in the same order.
func TestPagesAddUpToAllItems(t *testing.T) {
	t.Parallel()
	reads := []struct{ operation, members string }{
		{"Scan", `"ConsistentRead":true`},
		{"Scan", `"IndexName":"by-owner"`},
		{"Query", `"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":"p1"}}`},
		{"Query", `"KeyConditionExpression":"id = :p","ExpressionAttributeValues":{":p":{"S":"p1"}},
			"ScanIndexForward":false`},
		{"Query", query("#o = :o", `":o":{"S":"o2"}`) + `,"IndexName":"by-owner","ScanIndexForward":false`},
	}
	s := filled(t)
	rapid.Check(t, func(rt *rapid.T) {
		read := rapid.SampledFrom(reads).Draw(rt, "read")
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		whole, _, _ := s.pages(t, read.operation, read.members, 0)
		parts, scanned, pages := s.pages(t, read.operation, read.members, limit)
		if diff := cmp.Diff(whole, parts); diff != "" {
			rt.Fatalf("(-whole +pages):\n%s", diff)
		}
		if scanned != len(whole) || pages != len(whole)/limit+1 {
			rt.Fatalf("%d scanned in %d pages", scanned, pages)
		}
	})
}

// A response has the state of the time of the request, even if items are
// written before it is sent.
func TestResponsesDoNotChangeAfterLaterWrites(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	s.run(t, step{operation: "PutItem", body: `{"TableName":"jobs","Item":{"id":{"S":"k"},
		"l":{"L":[{"N":"1"}]},"m":{"M":{"a":{"N":"1"}}},"ss":{"SS":["a"]}}}`})
	body := []byte(`{"TableName":"jobs","Key":{"id":{"S":"k"}}}`)
	answer, err := s.Operate(t.Context(), &protocol.Request{Operation: "GetItem", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	before := marshal(t, answer)
	s.run(t, step{operation: "UpdateItem", body: `{"TableName":"jobs","Key":{"id":{"S":"k"}},
		"UpdateExpression":"SET l[0] = :v, m.a = :v, l[1] = :v ADD ss :ss REMOVE m.b",
		"ExpressionAttributeValues":{":v":{"N":"2"},":ss":{"SS":["b"]}}}`})
	if after := marshal(t, answer); after != before {
		t.Errorf("the answer was %s and is %s", before, after)
	}
	s.run(t, step{"GetItem", string(body), `{"Item":{"id":{"S":"k"},"l":{"L":[{"N":"2"},{"N":"2"}]},
		"m":{"M":{"a":{"N":"2"}}},"ss":{"SS":["a","b"]}}}`, ""})
}
