package dlq_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// A dead letter is the message with the evidence beside it.
func ExampleSender() {
	api := &fakeQueue{}
	sender, err := dlq.NewSender(api, standardURL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	m := message("059f36b4", `{"id": "ch-1", "amount": -5}`, map[string]string{"tenant": "t1"})
	letters := []handler.Letter{{
		Message: m,
		Failure: handler.Failure{Class: "permanent", Reason: "validation", Message: "amount must be above 0"},
	}}
	sender.Send(context.Background(), letters)
	fmt.Println("sent:", letters[0].Answer() == nil)

	arrived := api.arrived[0]
	fmt.Println("body:", *arrived.MessageBody)
	fmt.Println("tenant:", *arrived.MessageAttributes["tenant"].StringValue)
	record, err := dlq.Open(types.Message{MessageAttributes: arrived.MessageAttributes})
	fmt.Println("record:", record.MessageID, record.Reason, record.Message, err)
	// Output:
	// sent: true
	// body: {"id": "ch-1", "amount": -5}
	// tenant: t1
	// record: 059f36b4 validation amount must be above 0 <nil>
}

// A replayed message reaches the function as its producer sent it.
func ExampleRestore() {
	m := message("c80e8021", `{"id": "ch-1"}`, map[string]string{
		dlq.AttributeName: `{"version":1,"messageId":"059f36b4","key":"charge:ch-1","epoch":0,"verdict":true}`,
	})
	dlq.Restore(m)

	_, there := m.MessageAttributes[dlq.AttributeName]
	fmt.Println("record there:", there)
	fmt.Println("first sent as", m.Replay.MessageID, "and died in epoch", m.Replay.Epoch)
	// Output:
	// record there: false
	// first sent as 059f36b4 and died in epoch 0
}
