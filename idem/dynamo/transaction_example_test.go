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

// The effect and the record of it are written together or not at all.
func ExampleCompletion() {
	client := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	for _, name := range []string{"ledger", "stock"} {
		_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
			TableName:            &name,
			BillingMode:          types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		})
		if err != nil {
			fmt.Println(err)
		}
	}

	transactor := dynamo.NewTransactor(client)
	take := func(ctx context.Context, _ *handler.Message) error {
		completion, err := dynamo.Completion(ctx)
		if err != nil {
			return err
		}
		_, err = transactor.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{completion, {Update: &types.Update{
				TableName:                 aws.String("stock"),
				Key:                       map[string]types.AttributeValue{"id": text("shoes")},
				UpdateExpression:          aws.String("ADD taken :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": number("1")},
			}}},
		})
		return err
	}
	ledger, err := idem.New(dynamo.New(client, "ledger", nil), nil)
	if err != nil {
		fmt.Println(err)
	}
	p, err := handler.NewProcessor(handler.Func(take), &handler.Options{Ledger: ledger, Hooks: printing})
	if err != nil {
		fmt.Println(err)
	}
	for range 3 {
		batch := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1"}}}
		if _, err := p.Handle(context.Background(), batch); err != nil {
			fmt.Println(err)
		}
	}
	stock, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("stock")})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(stock.Items[0]["taken"].(*types.AttributeValueMemberN).Value, "taken")
	// Output:
	// 1 done
	// 1 duplicate
	// 1 duplicate
	// 1 taken
}
