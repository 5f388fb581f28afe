package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"
)

// itemSize returns an item of the table jobs with that size.
func itemSize(size int) string {
	return fmt.Sprintf(`{"TableName":"jobs","Item":{"id":{"S":"k"},"v":{"S":%q}}}`, strings.Repeat("x", size-len("idkv")))
}

const getK = `{"TableName":"jobs","Key":{"id":{"S":"k"}},"ConsistentRead":true}`

func TestPutItem(t *testing.T) {
	t.Parallel()
	put := func(item, more string) string { return `{"TableName":"jobs","Item":` + item + more + `}` }
	withTables(t).run(t,
		step{"GetItem", getK, `{}`, ""},
		step{"PutItem", put(`{"id":{"S":"k"},"v":{"N":"1"}}`, `,"ReturnValues":"ALL_OLD"`), `{}`, ""},
		step{"GetItem", getK, `{"Item":{"id":{"S":"k"},"v":{"N":"1"}}}`, ""},
		step{"PutItem", put(`{"id":{"S":"k"},"w":{"S":""}}`, `,"ReturnValues":"ALL_OLD"`),
			`{"Attributes":{"id":{"S":"k"},"v":{"N":"1"}}}`, ""},
		step{"GetItem", getK, `{"Item":{"id":{"S":"k"},"w":{"S":""}}}`, ""},
		step{"PutItem", put(`{"id":{"S":"k"},"v":{"N":"2"}}`, `,"ReturnValues":"NONE"`), `{}`, ""},
		step{"PutItem", put(`{"id":{"S":"k"}}`, `,"ReturnValues":"ALL_NEW"`), "", "ValidationException: ALL_OLD or NONE"},
		step{"PutItem", put(`{"id":{"S":"k"}}`, `,"ReturnValues":"ALL"`), "", "ValidationException: at 'returnValues'"},
		step{"GetItem", getK, `{"Item":{"id":{"S":"k"},"v":{"N":"2"}}}`, ""})
}

func TestItemsThatAreRefused(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("k", n) }
	for _, c := range []struct{ table, item, message string }{
		{"jobs", `{}`, "Missing the key id in the item"},
		{"jobs", `{"v":{"S":"x"}}`, "Missing the key id in the item"},
		{"notes", `{"id":{"S":"x"}}`, "Missing the key sk in the item"},
		{"jobs", `{"id":{"N":"1"}}`, "Type mismatch for key id expected: S actual: N"},
		{"notes", `{"id":{"S":"x"},"sk":{"S":"1"}}`, "Type mismatch for key sk expected: N actual: S"},
		{"jobs", `{"id":{"S":""}}`, "cannot contain an empty string value. Key: id"},
		{"jobs", `{"id":{"S":"` + long(2049) + `"}}`, "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"jobs", `{"id":{"S":"k"},"v":{"SS":[]}}`, "may not be empty"},
		{"jobs", `{"id":{"S":"k"},"v":{"N":"1E200"}}`, "Number overflow"},
		{"jobs", `{"id":{"S":"k"},"v":{}}`, "must contain exactly one of the supported datatypes"},
		{"notes", `{"id":{"S":"k"},"sk":{"N":"1"},"owner":{"N":"1"}}`,
			"Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner"},
		{"notes", `{"id":{"S":"k"},"sk":{"N":"1"},"rank":{"S":"1"}}`, "IndexName: by-rank"},
		{"notes", `{"id":{"S":"k"},"sk":{"N":"1"},"owner":{"S":""}}`, "IndexName: by-owner, IndexKey: owner"},
	} {
		_, err := withTables(t).call(t, "PutItem", `{"TableName":"`+c.table+`","Item":`+c.item+`}`)
		wantRefused(t, err, "ValidationException: "+c.message)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	const mismatch = "The provided key element does not match the schema"
	for _, c := range []struct{ table, key, message string }{
		{"jobs", `{}`, mismatch},
		{"jobs", `{"id":{"N":"1"}}`, mismatch},
		{"jobs", `{"id":{"S":"k"},"v":{"S":"x"}}`, mismatch},
		{"jobs", `{"v":{"S":"x"}}`, mismatch},
		{"notes", `{"id":{"S":"k"}}`, mismatch},
		{"notes", `{"id":{"S":"k"},"sk":{"S":"1"}}`, mismatch},
		{"jobs", `{"id":{"S":""}}`, "cannot contain an empty string value. Key: id"},
		{"jobs", `{"id":{"S":"` + strings.Repeat("k", 2049) + `"}}`, "Size of hashkey"},
	} {
		for _, operation := range []string{"GetItem", "UpdateItem", "DeleteItem"} {
			_, err := withTables(t).call(t, operation, `{"TableName":"`+c.table+`","Key":`+c.key+`}`)
			wantRefused(t, err, "ValidationException: "+c.message)
		}
	}
}

func TestKeysAreComparedByValue(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(t,
		step{operation: "CreateTable", body: `{"TableName":"pairs","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"},{"AttributeName":"b","AttributeType":"B"}],
			"KeySchema":[{"AttributeName":"n","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}]}`},
		step{operation: "PutItem", body: `{"TableName":"pairs","Item":{"n":{"N":"1.0"},"b":{"B":"AQ=="}}}`},
		step{operation: "PutItem", body: `{"TableName":"pairs","Item":{"n":{"N":"10"},"b":{"B":"AQ=="}}}`},
		step{"GetItem", `{"TableName":"pairs","Key":{"n":{"N":"1"},"b":{"B":"AQ=="}}}`,
			`{"Item":{"n":{"N":"1"},"b":{"B":"AQ=="}}}`, ""},
		step{"GetItem", `{"TableName":"pairs","Key":{"n":{"N":"1"},"b":{"B":"Ag=="}}}`, `{}`, ""},
		step{"GetItem", `{"TableName":"pairs","Key":{"n":{"N":"1"},"b":{"B":""}}}`, "",
			"ValidationException: cannot contain an empty binary value. Key: b"},
		step{"GetItem", `{"TableName":"pairs","Key":{"n":{"N":"1"},"b":{"B":"` + strings.Repeat("AAAA", 342) + `"}}}`, "",
			"ValidationException: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"})
}

func TestItemsHaveUpTo400KB(t *testing.T) {
	t.Parallel()
	grow := func(n int) string {
		return fmt.Sprintf(`{"TableName":"jobs","Key":{"id":{"S":"k"}},"UpdateExpression":"SET w = :w",
			"ExpressionAttributeValues":{":w":{"S":%q}}}`, strings.Repeat("x", n))
	}
	withTables(t).run(t,
		step{"PutItem", itemSize(400<<10 + 1), "", "ValidationException: Item size has exceeded the maximum allowed size"},
		step{"GetItem", getK, `{}`, ""},
		step{"PutItem", itemSize(400 << 10), `{}`, ""},
		step{"PutItem", itemSize(300 << 10), `{}`, ""},
		step{"UpdateItem", grow(100<<10 - 1), `{}`, ""},
		step{"UpdateItem", grow(100 << 10), "",
			"ValidationException: Item size to update has exceeded the maximum allowed size"})
}

func TestGetItemProjects(t *testing.T) {
	t.Parallel()
	get := func(more string) string { return `{"TableName":"jobs","Key":{"id":{"S":"k"}},` + more + `}` }
	withTables(t).run(t,
		step{"PutItem",
			`{"TableName":"jobs","Item":{"id":{"S":"k"},"status":{"S":"s"},"l":{"L":[{"N":"1"},{"N":"2"}]}}}`, `{}`, ""},
		step{"GetItem", get(`"ProjectionExpression":"l[1]"`), `{"Item":{"l":{"L":[{"N":"2"}]}}}`, ""},
		step{"GetItem", get(`"ProjectionExpression":"#s","ExpressionAttributeNames":{"#s":"status"}`),
			`{"Item":{"status":{"S":"s"}}}`, ""},
		step{"GetItem", get(`"ProjectionExpression":"status"`), "", "ValidationException: reserved keyword: status"},
		step{"GetItem", get(`"ProjectionExpression":"l","ExpressionAttributeNames":{"#s":"status"}`), "",
			"ValidationException: unused in expressions: keys: {#s}"},
		step{"GetItem", get(`"ExpressionAttributeNames":{"#s":"status"}`), "",
			"ValidationException: only be specified when using expressions"},
		step{"GetItem", get(`"ProjectionExpression":"s","ExpressionAttributeNames":{"s":"status"}`), "",
			"ValidationException: invalid key"})
}

func TestUpdateItemReturnsTheRequestedValues(t *testing.T) {
	t.Parallel()
	const old = `{"id":{"S":"k"},"v":{"N":"1"},"w":{"S":"x"},"m":{"M":{"a":{"N":"1"},"b":{"N":"1"}}}}`
	for returned, want := range map[string]string{
		"NONE":        `{}`,
		"ALL_OLD":     `{"Attributes":` + old + `}`,
		"UPDATED_OLD": `{"Attributes":{"v":{"N":"1"},"w":{"S":"x"},"m":{"M":{"a":{"N":"1"}}}}}`,
		"ALL_NEW":     `{"Attributes":{"id":{"S":"k"},"v":{"N":"3"},"m":{"M":{"a":{"N":"2"},"b":{"N":"1"}}}}}`,
		"UPDATED_NEW": `{"Attributes":{"v":{"N":"3"},"m":{"M":{"a":{"N":"2"}}}}}`,
	} {
		withTables(t).run(t,
			step{"PutItem", `{"TableName":"jobs","Item":` + old + `}`, `{}`, ""},
			step{"UpdateItem", fmt.Sprintf(`{"TableName":"jobs","Key":{"id":{"S":"k"}},"ReturnValues":%q,
				"UpdateExpression":"SET v = v + :two, m.a = :two REMOVE w","ExpressionAttributeValues":{":two":{"N":"2"}}}`,
				returned), want, ""})
	}
}

func TestUpdateItemCreatesAMissingItem(t *testing.T) {
	t.Parallel()
	withTables(t).run(t,
		step{"UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"a"}},"ReturnValues":"ALL_NEW"}`,
			`{"Attributes":{"id":{"S":"a"}}}`, ""},
		step{"UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"b"}},"ReturnValues":"ALL_OLD","UpdateExpression":"ADD n :n",
			"ExpressionAttributeValues":{":n":{"N":"2"}}}`, `{}`, ""},
		step{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"b"}}}`, `{"Item":{"id":{"S":"b"},"n":{"N":"2"}}}`, ""},
		step{"UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"c"}},"UpdateExpression":"REMOVE x"}`, `{}`, ""},
		step{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"c"}}}`, `{"Item":{"id":{"S":"c"}}}`, ""})
}

func TestUpdatesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ table, key, members, message string }{
		{"jobs", `{"id":{"S":"k"}}`, `"UpdateExpression":"SET id = :x","ExpressionAttributeValues":{":x":{"S":"y"}}`,
			"Cannot update attribute id. This attribute is part of the key"},
		{"notes", `{"id":{"S":"k"},"sk":{"N":"1"}}`, `"UpdateExpression":"REMOVE sk"`, "Cannot update attribute sk"},
		{"notes", `{"id":{"S":"k"},"sk":{"N":"1"}}`, `"UpdateExpression":"SET #o = :x",
			"ExpressionAttributeNames":{"#o":"owner"},"ExpressionAttributeValues":{":x":{"N":"1"}}`,
			"Type mismatch for Index Key owner"},
		{"jobs", `{"id":{"S":"k"}}`, `"UpdateExpression":""`, "Invalid UpdateExpression: The expression can not be empty"},
		{"jobs", `{"id":{"S":"k"}}`, `"UpdateExpression":"SET a = :x"`, "attribute value: :x"},
		{"jobs", `{"id":{"S":"k"}}`, `"UpdateExpression":"REMOVE a","ExpressionAttributeValues":{":x":{"S":"y"}}`,
			"ExpressionAttributeValues unused in expressions: keys: {:x}"},
		{"jobs", `{"id":{"S":"k"}}`, `"ExpressionAttributeValues":{":x":{"S":"y"}}`,
			"only be specified when using expressions"},
		{"jobs", `{"id":{"S":"k"}}`, `"ReturnValues":"SOME"`, "at 'returnValues'"},
		{"jobs", `{"id":{"S":"k"}}`, `"ConditionExpression":"AND"`, "Invalid ConditionExpression: Syntax error"},
		{"jobs", `{"id":{"S":"k"}}`, `"ReturnValuesOnConditionCheckFailure":"ALL_NEW"`,
			"at 'returnValuesOnConditionCheckFailure'"},
		{"jobs", `{"id":{"S":"k"}}`, `"UpdateExpression":"SET a = b"`, "attribute that does not exist in the item"},
	} {
		s := withTables(t)
		_, err := s.call(t, "UpdateItem", `{"TableName":"`+c.table+`","Key":`+c.key+`,`+c.members+`}`)
		wantRefused(t, err, "ValidationException: "+c.message)
		s.run(t, step{"Scan", `{"TableName":"` + c.table + `"}`, `{"Items":[],"Count":0,"ScannedCount":0}`, ""})
	}
}

func TestDeleteItem(t *testing.T) {
	t.Parallel()
	const deleteK = `{"TableName":"jobs","Key":{"id":{"S":"k"}},"ReturnValues":"ALL_OLD"}`
	withTables(t).run(t,
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"k"},"v":{"N":"1"}}}`, `{}`, ""},
		step{"DeleteItem", deleteK, `{"Attributes":{"id":{"S":"k"},"v":{"N":"1"}}}`, ""},
		step{"DeleteItem", deleteK, `{}`, ""},
		step{"GetItem", getK, `{}`, ""},
		step{"DeleteItem", strings.Replace(deleteK, "ALL_OLD", "UPDATED_OLD", 1), "", "ValidationException: ALL_OLD or NONE"})
}

func TestFailedConditionChangesNothingAndReturnsTheItemOnRequest(t *testing.T) {
	t.Parallel()
	for operation, target := range map[string]string{
		"PutItem":    `"Item":{"id":{"S":"k"},"new":{"BOOL":true}}`,
		"UpdateItem": `"Key":{"id":{"S":"k"}},"UpdateExpression":"REMOVE v"`,
		"DeleteItem": `"Key":{"id":{"S":"k"}}`,
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := withTables(t)
			write := func(more string) string {
				return `{"TableName":"jobs",` + target + `,"ConditionExpression":"v = :v",
					"ExpressionAttributeValues":{":v":{"N":"2"}}` + more + `}`
			}
			const all = `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`

			_, err := s.call(t, operation, write(all))
			if r := wantRefused(t, err, "ConditionalCheckFailedException: The conditional request failed"); r.Fields != nil {
				t.Errorf("of no item: %v", r.Fields)
			}
			s.run(t, step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"k"},"v":{"N":"1"}}}`, `{}`, ""})
			_, err = s.call(t, operation, write(""))
			if r := wantRefused(t, err, "ConditionalCheckFailedException"); r.Fields != nil {
				t.Errorf("not asked for: %v", r.Fields)
			}
			_, err = s.call(t, operation, write(all))
			r := wantRefused(t, err, "ConditionalCheckFailedException")
			if got := marshal(t, r.Fields["Item"]); got != `{"id":{"S":"k"},"v":{"N":"1"}}` {
				t.Errorf("item of the refusal: %s", got)
			}
			s.run(t,
				step{"GetItem", getK, `{"Item":{"id":{"S":"k"},"v":{"N":"1"}}}`, ""},
				step{operation, strings.Replace(write(all), `{"N":"2"}`, `{"N":"1.0"}`, 1), `{}`, ""})
			if got, _ := s.call(t, "GetItem", getK); strings.Contains(got, `"v"`) {
				t.Errorf("after a true condition: %s", got)
			}
		})
	}
}
