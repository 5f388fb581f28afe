package dynamo_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// printing prints what became of the messages of a batch.
var printing = handler.Hooks{OnBatch: func(_ context.Context, r handler.Report) {
	for _, c := range r.Counts {
		fmt.Println(c.N, c.Outcome)
	}
}}

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
		ledger, err := idem.New(dynamo.New(client, "ledger", nil), &idem.Options{Key: idem.JSONField("id")})
		if err != nil {
			fmt.Println(err)
		}
		charge := func(ctx context.Context, _ *handler.Message) error {
			fmt.Println(process, "process charges", idem.Key(ctx))
			return nil
		}
		p, err := handler.NewProcessor(handler.Func(charge), &handler.Options{Ledger: ledger, Hooks: printing})
		if err != nil {
			fmt.Println(err)
		}
		batch := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: `{"id":"ch-1","amount":1250}`}}}
		if _, err := p.Handle(context.Background(), batch); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// first process charges ch-1
	// 1 done
	// 1 duplicate
}
