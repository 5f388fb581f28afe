package dynamodb_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Any request is answered, or refused with an error of the service, and leaves
// tables that can be read.
func FuzzOperate(f *testing.F) {
	for operation, body := range map[string]string{
		"CreateTable": createNotes,
		"UpdateTable": `{"TableName":"jobs","AttributeDefinitions":[{"AttributeName":"v","AttributeType":"S"}],
			"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-v","KeySchema":[{"AttributeName":"v","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}}}]}`,
		"PutItem": `{"TableName":"notes","Item":{"id":{"S":"a"},"sk":{"N":"1"},"rank":{"N":"2"}},
			"Expected":{"v":{"Exists":false},"w":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"x"}]}},
			"ConditionalOperator":"OR","ReturnConsumedCapacity":"INDEXES","ReturnValues":"ALL_OLD"}`,
		"UpdateItem": `{"TableName":"jobs","Key":{"id":{"S":"k"}},"ReturnValues":"UPDATED_NEW",
			"UpdateExpression":"SET a = (b + :n), (c).d = list_append(e, :l) ADD f :s REMOVE g[0]",
			"ExpressionAttributeValues":{":n":{"N":"1"},":l":{"L":[]},":s":{"SS":["x"]}}}`,
		"Query": `{"TableName":"notes","IndexName":"by-owner","Select":"ALL_PROJECTED_ATTRIBUTES","Limit":1,
			"KeyConditionExpression":"(#o = :o) AND sk BETWEEN :a AND :b","ExpressionAttributeNames":{"#o":"owner"},
			"ExpressionAttributeValues":{":o":{"S":"x"},":a":{"N":"1"},":b":{"N":"2"}},
			"ExclusiveStartKey":{"id":{"S":"a"},"sk":{"N":"1"},"owner":{"S":"x"}},"ScanIndexForward":false}`,
		"Scan": `{"TableName":"jobs","Segment":1,"TotalSegments":3,"FilterExpression":"size(v) > :n",
			"ExpressionAttributeValues":{":n":{"N":"1"}}}`,
		"BatchGetItem":       `{"RequestItems":{"jobs":{"Keys":[{"id":{"S":"k"}}],"AttributesToGet":["v"]}}}`,
		"TransactWriteItems": transaction(`,"ClientRequestToken":"t"`, putA, addB),
		"TagResource": `{"ResourceArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/jobs",
			"Tags":[{"Key":"a","Value":"b"}]}`,
	} {
		f.Add(operation, []byte(body))
	}
	f.Fuzz(func(t *testing.T, operation string, body []byte) {
		s := withTables(t)
		response, err := s.Operate(t.Context(), &protocol.Request{Operation: operation, Body: body})
		if _, ok := errors.AsType[*protocol.Error](err); err != nil && !ok {
			t.Fatalf("%s %q: %v is no error of the service", operation, body, err)
		}
		if _, err := json.Marshal(response); err != nil {
			t.Errorf("%s %q: %v", operation, body, err)
		}
		for _, table := range []string{"jobs", "notes"} {
			_, err := s.call(t, "Scan", `{"TableName":"`+table+`"}`)
			if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code != "ResourceNotFoundException" {
				t.Errorf("after %s %q: %v", operation, body, err)
			}
		}
	})
}
