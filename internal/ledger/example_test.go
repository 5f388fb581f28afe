package ledger_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func ExampleTable_Forget() {
	ctx := context.Background()
	client := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	_, _ = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("jobs"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	_, _ = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: map[string]types.AttributeValue{
		"id": &types.AttributeValueMemberS{Value: "charges#k"}, "status": &types.AttributeValueMemberS{Value: "COMPLETED"},
	}})

	table, err := ledger.Open(ctx, client, "jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := table.Get(ctx, "charges#k")
	fmt.Println(job.ID, job.State(time.Now()), err)
	fmt.Println(table.Forget(ctx, job))
	job, err = table.Get(ctx, "charges#k")
	fmt.Println(job == nil, err)
	// Output:
	// charges#k done <nil>
	// <nil>
	// true <nil>
}
