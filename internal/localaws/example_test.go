package localaws_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func ExampleServer_Inject() {
	ctx, server := context.Background(), localaws.New(nil)
	client := sqs.NewFromConfig(localtest.Config(server))
	server.Inject(localaws.Fault{Operation: "CreateQueue", Times: 1, Code: "AccessDeniedException", Status: 403})

	_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	var api smithy.APIError
	fmt.Println(errors.As(err, &api), api.ErrorCode())
	_, err = client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	fmt.Println(err)
	// Output:
	// true AccessDeniedException
	// <nil>
}
