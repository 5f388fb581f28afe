package dynamo_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// The table remembers what one process has done, so that another does not do
// it again.
func ExampleNew() {
	// A client for AWS itself is made the same way, with its own aws.Config.
	client := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:            aws.String("ledger"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		fmt.Println(err)
	}

	for _, process := range []string{"first", "second"} {
		once := idem.Middleware(dynamo.New(client, "ledger", nil), &idem.Options{Key: idem.JSONField("id")})
		charge := once(func(ctx context.Context, _ *handler.Message) error {
			fmt.Println(process, "process charges", idem.Key(ctx))
			return nil
		})
		m := &handler.Message{}
		m.MessageId, m.Body = "m1", `{"id":"ch-1","amount":1250}`
		fmt.Println(m.Resolve(context.Background(), charge(context.Background(), m)).Outcome)
	}
	// Output:
	// first process charges ch-1
	// done
	// duplicate
}
