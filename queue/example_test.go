package queue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/queue"
)

// Each change has its own answer, since SQS can refuse some entries of a call
// that succeeds.
func ExampleClient_ChangeVisibility() {
	var api queue.API = &fakeSQS{fakeAnswers: fakeAnswers{refuse: map[string]types.BatchResultErrorEntry{
		"m-1": {Code: aws.String("ReceiptHandleIsInvalid"), SenderFault: true},
	}}}
	source, err := queue.New(api, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	var changes []handler.VisibilityChange
	for _, m := range messages("arn:aws:sqs:eu-central-1:123456789012:charge", "m", 2) {
		changes = append(changes, handler.VisibilityChange{Message: m, Timeout: 30 * time.Second})
	}
	source.ChangeVisibility(context.Background(), changes)
	for _, change := range changes {
		if refused, ok := errors.AsType[*queue.EntryError](change.Answer()); ok {
			fmt.Println(change.Message.MessageId, "keeps its timeout:", refused.Code)
			continue
		}
		fmt.Println(change.Message.MessageId, "is hidden for", change.Timeout)
	}
	// Output:
	// m-0 is hidden for 30s
	// m-1 keeps its timeout: ReceiptHandleIsInvalid
}
