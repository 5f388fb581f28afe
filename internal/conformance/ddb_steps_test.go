package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ddbEnv has the client and the steps that several checks share. Its methods
// stop the check when a step fails.
type ddbEnv struct{ c *dynamodb.Client }

// ddbChecks are all checks of DynamoDB.
func ddbChecks() []check[*ddbEnv] {
	return slices.Concat(
		ddbTableChecks, ddbClaimChecks(), ddbConditionChecks, ddbUpdateChecks, ddbBatchChecks, ddbQueryChecks,
		ddbLimitChecks, ddbRecordedChecks, ddbIndexChecks, ddbCapacityChecks, ddbSettingChecks,
	)
}

type item = map[string]types.AttributeValue

func avS(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func avN(n int64) types.AttributeValue { return avNum(strconv.FormatInt(n, 10)) }

func avNum(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func avL(vs ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: vs}
}

// show gives the attribute k of an item: a string as it is, a number too, the
// length of a list.
func show(it item, k string) string {
	switch v := it[k].(type) {
	case nil:
		return "none"
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberSS:
		return fmt.Sprint(slices.Sorted(slices.Values(v.Value)))
	case *types.AttributeValueMemberL:
		return fmt.Sprintf("list of %d", len(v.Value))
	default:
		return fmt.Sprintf("%T", v)
	}
}

// keyTable describes a table whose key is the string id.
func keyTable(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	}
}

// table creates a table whose key is the string id.
func (e *ddbEnv) table(t T) (name string) {
	t.Helper()
	return e.create(t, keyTable(unique("t")))
}

// sortedTable creates a table whose key is the string id and the number sk,
// with a global secondary index by the string owner and sk.
func (e *ddbEnv) sortedTable(t T) (name string) {
	t.Helper()
	in := keyTable(unique("t"))
	in.AttributeDefinitions = append(in.AttributeDefinitions,
		types.AttributeDefinition{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		types.AttributeDefinition{AttributeName: aws.String("owner"), AttributeType: types.ScalarAttributeTypeS})
	sk := types.KeySchemaElement{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}
	in.KeySchema = append(in.KeySchema, sk)
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName:  aws.String("byowner"),
		KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("owner"), KeyType: types.KeyTypeHash}, sk},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}}
	return e.create(t, in)
}

// create creates a table, which is deleted after the check, and waits until it
// is ACTIVE. (An endpoint without table states fails the check of them only.)
func (e *ddbEnv) create(t T, in *dynamodb.CreateTableInput) (name string) {
	t.Helper()
	_, err := e.c.CreateTable(t.Context(), in)
	must(t, "CreateTable", err)
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		_, _ = e.c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: in.TableName})
	})
	eventually(t, 10*time.Second, func() error {
		out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: in.TableName})
		if err != nil {
			return fmt.Errorf("DescribeTable: %s", describe(err))
		}
		if s := out.Table.TableStatus; s != types.TableStatusActive && s != "" {
			return fmt.Errorf("table is %s", s)
		}
		return nil
	})
	return *in.TableName
}

func (e *ddbEnv) put(t T, table string, it item) {
	t.Helper()
	_, err := e.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it})
	must(t, "PutItem", err)
}

func (e *ddbEnv) get(t T, table, id string) item {
	t.Helper()
	out, err := e.c.GetItem(
		t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: item{"id": avS(id)}, ConsistentRead: aws.Bool(true)},
	)
	must(t, "GetItem", err)
	return out.Item
}

// updateInput describes an update of the item k that returns all of it.
func updateInput(table, expr string, values item) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       item{"id": avS("k")},
		UpdateExpression:          &expr,
		ExpressionAttributeValues: values,
		ReturnValues:              types.ReturnValueAllNew,
	}
}

func (e *ddbEnv) update(t T, in *dynamodb.UpdateItemInput) item {
	t.Helper()
	out, err := e.c.UpdateItem(t.Context(), in)
	must(t, "UpdateItem", err)
	return out.Attributes
}
