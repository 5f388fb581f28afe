package localtest_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func Example() {
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
	queue, err := client.CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*queue.QueueUrl)
	// Output: http://localaws/000000000000/orders
}
