package dynamodb_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func ExampleService_Operate() {
	tables := dynamodb.New(protocol.SystemClock{}, "us-east-1", "000000000000")
	call := func(operation, body string) {
		response, err := tables.Operate(context.Background(), &protocol.Request{
			Operation: operation, Body: []byte(body),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := json.Marshal(response)
		fmt.Println(string(text))
	}
	create := &protocol.Request{Operation: "CreateTable", Body: []byte(createJobs)}
	if _, err := tables.Operate(context.Background(), create); err != nil {
		fmt.Println(err)
		return
	}
	claim := `{"TableName":"jobs","Item":{"id":{"S":"ch-1"}},"ConditionExpression":"attribute_not_exists(id)"}`
	call("PutItem", claim)
	call("PutItem", claim)
	call("GetItem", `{"TableName":"jobs","Key":{"id":{"S":"ch-1"}}}`)
	// Output:
	// {}
	// ConditionalCheckFailedException: The conditional request failed
	// {"Item":{"id":{"S":"ch-1"}}}
}
