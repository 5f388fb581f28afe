package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// tableLimit is how long another engine may take to make a table.
const tableLimit = 2 * time.Minute

// createTables makes the template's tables where they are not there yet.
func (s *Stack) createTables(ctx context.Context) error {
	for _, t := range s.template.Tables {
		if err := s.createTable(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.LogicalID, err)
		}
	}
	return nil
}

func (s *Stack) createTable(ctx context.Context, t stack.Table) error {
	_, err := s.tables.CreateTable(ctx, tableInput(t))
	if exists, ok := errors.AsType[*types.ResourceInUseException](err); ok && exists != nil {
		return s.compareTable(ctx, t)
	}
	if err != nil {
		return unreachable(err, s.options.EndpointDynamoDB, "--endpoint-dynamodb")
	}
	waiter := dynamodb.NewTableExistsWaiter(s.tables, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, 2*time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)}, tableLimit); err != nil {
		return endpoint.Brief(err)
	}
	if t.TTLAttribute == "" {
		return nil
	}
	_, err = s.tables.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(t.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(t.TTLAttribute), Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		return endpoint.Brief(err)
	}
	return nil
}

// compareTable looks at a table that was there already.
func (s *Stack) compareTable(ctx context.Context, t stack.Table) error {
	there, err := s.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)})
	if err != nil {
		return endpoint.Brief(err)
	}
	wanted, got := keys(tableInput(t).KeySchema), keys(there.Table.KeySchema)
	if got != wanted {
		return fmt.Errorf("it exists with the key %s, and the template says %s; delete it there, or make them the same",
			got, wanted)
	}
	s.note(fmt.Sprintf("table %s is there already, with its items", t.LogicalID))
	return nil
}

func tableInput(t stack.Table) *dynamodb.CreateTableInput {
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
	return in
}

func keys(schema []types.KeySchemaElement) string {
	var texts []string
	for _, k := range schema {
		texts = append(texts, fmt.Sprintf("%s (%s)", aws.ToString(k.AttributeName), k.KeyType))
	}
	return strings.Join(texts, ", ")
}
