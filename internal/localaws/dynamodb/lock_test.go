package dynamodb

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// A request on one table does not wait for what happens in another one.
func TestTablesAreLockedOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(protocol.SystemClock{}, "eu-west-1", "123456789012")
		call := func(operation, body string) {
			r := &protocol.Request{Operation: operation, Body: []byte(body)}
			if _, err := s.Operate(context.Background(), r); err != nil {
				t.Errorf("%s %s: %v", operation, body, err)
			}
		}
		for _, name := range []string{"one", "two", "three"} {
			call("CreateTable", `{"TableName":"`+name+`","BillingMode":"PAY_PER_REQUEST",
				"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
				"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`)
		}
		busy := s.tables["one"]
		busy.mu.RLock() // as a scan does
		call("PutItem", `{"TableName":"two","Item":{"id":{"S":"a"}}}`)
		call("Scan", `{"TableName":"one"}`)
		call("TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"three","Item":{"id":{"S":"a"}}}},
			{"Put":{"TableName":"two","Item":{"id":{"S":"b"}}}}]}`)

		done := make(chan struct{})
		go func() {
			defer close(done)
			call("TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"one","Item":{"id":{"S":"a"}}}},
				{"Put":{"TableName":"two","Item":{"id":{"S":"c"}}}}]}`)
		}()
		busy.mu.RUnlock()
		<-done
	})
}
