package local

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// create makes the template's queues and tables.
func (s *Stack) create(ctx context.Context) error {
	for _, q := range targetsFirst(s.template.Queues) {
		_, err := s.queues.CreateQueue(ctx, &sqs.CreateQueueInput{
			QueueName: aws.String(q.Name), Attributes: q.Attributes,
		})
		if err != nil {
			return fmt.Errorf("queue %s: %w", q.LogicalID, err)
		}
	}
	for _, t := range s.template.Tables {
		if err := createTable(ctx, s.tables, t); err != nil {
			return fmt.Errorf("table %s: %w", t.LogicalID, err)
		}
	}
	return nil
}

// targetsFirst orders queues such that a dead-letter queue exists before a
// redrive policy names it.
func targetsFirst(queues []stack.Queue) []stack.Queue {
	var targets, sources []stack.Queue
	for _, q := range queues {
		if q.DeadLetterQueue == "" {
			targets = append(targets, q)
		} else {
			sources = append(sources, q)
		}
	}
	return append(targets, sources...)
}

func createTable(ctx context.Context, client *dynamodb.Client, t stack.Table) error {
	in := &dynamodb.CreateTableInput{TableName: aws.String(t.Name), BillingMode: types.BillingModePayPerRequest}
	for _, k := range t.Keys {
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{
			AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Type),
		})
	}
	for _, a := range t.Attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type),
		})
	}
	if _, err := client.CreateTable(ctx, in); err != nil {
		return err
	}
	if t.TTLAttribute == "" {
		return nil
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(t.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(t.TTLAttribute), Enabled: aws.Bool(true),
		},
	})
	return err
}
