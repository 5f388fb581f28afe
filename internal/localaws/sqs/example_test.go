package sqs_test

import (
	"context"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

func Example() {
	service := sqs.New(&sqs.Options{
		Region: "us-east-1", Account: "000000000000",
		Observe: func(e sqs.Event) { fmt.Println(e.Queue, e.Kind, e.Body) },
	})
	call := func(operation, body string) {
		_, err := service.Operate(context.Background(), &protocol.Request{Operation: operation, Body: []byte(body)})
		if err != nil {
			fmt.Println(err)
		}
	}
	call("CreateQueue", `{"QueueName": "orders"}`)
	call("SendMessage", `{"QueueUrl": "http://localhost/000000000000/orders", "MessageBody": "one"}`)
	call("GetQueueUrl", `{"QueueName": "order"}`)
	fmt.Println(service.Stats()[0].Visible, "visible")
	// Output:
	// orders sent one
	// QueueDoesNotExist: The specified queue does not exist.
	// 1 visible
}
