package dynamodb_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

var ignoreMarkers = cmpopts.IgnoreUnexported(
	types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
	types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberSS{},
	types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{}, types.AttributeValueMemberL{},
	types.AttributeValueMemberM{},
)

// newClient returns an SDK client, after it has created the table "jobs".
func newClient(t *testing.T) *dynamodb.Client {
	t.Helper()
	c := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("jobs"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	describe := &dynamodb.DescribeTableInput{TableName: aws.String("jobs")}
	if err := dynamodb.NewTableExistsWaiter(c).Wait(t.Context(), describe, time.Minute); err != nil {
		t.Fatal(err)
	}
	return c
}

func getInput(table string) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{TableName: aws.String(table), Key: attributes{"id": text("k")}}
}

func TestSDKRoundTripOfAllTypes(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	want := attributes{
		"id": text("k"), "n": num("12345678901234567890123456789012345678"),
		"b":  &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"t":  &types.AttributeValueMemberBOOL{Value: true},
		"z":  &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"x", "y"}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2.5"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"l":  &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), num("1")}},
		"m":  &types.AttributeValueMemberM{Value: attributes{"k": text("v")}},
	}
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: want}); err != nil {
		t.Fatal(err)
	}
	out, err := c.GetItem(t.Context(), getInput("jobs"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.Item, ignoreMarkers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSDKReturnsTheItemOfAFailedCondition(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	claim := &dynamodb.UpdateItemInput{
		TableName: aws.String("jobs"), Key: attributes{"id": text("k")},
		UpdateExpression:    aws.String("SET #s = :s, in_progress_expiration = :lease ADD claims :one"),
		ConditionExpression: aws.String("attribute_not_exists(id) OR (#s = :s AND in_progress_expiration < :now)"),

		ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues: attributes{
			":s": text("INPROGRESS"), ":lease": num("2000"), ":now": num("1000"), ":one": num("1"),
		},
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	first, err := c.UpdateItem(t.Context(), claim)
	if err != nil || len(first.Attributes) != 0 {
		t.Fatalf("first claim: %v, %v", first, err)
	}
	_, err = c.UpdateItem(t.Context(), claim)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("second claim: %v", err)
	}
	want := attributes{
		"id": text("k"), "status": text("INPROGRESS"), "in_progress_expiration": num("2000"), "claims": num("1"),
	}
	if diff := cmp.Diff(want, failed.Item, ignoreMarkers); diff != "" {
		t.Errorf("item of the refusal (-want +got):\n%s", diff)
	}
	claim.ExpressionAttributeValues[":now"] = num("3000")
	third, err := c.UpdateItem(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, third.Attributes, ignoreMarkers); diff != "" {
		t.Errorf("old item of the third claim (-want +got):\n%s", diff)
	}
}

func TestSDKReturnsCancellationReasons(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	put := func(id string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String("jobs"), Item: attributes{"id": text(id)},
			ConditionExpression:                 aws.String("attribute_not_exists(id)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	}
	write := func(ids ...string) error {
		in := &dynamodb.TransactWriteItemsInput{}
		for _, id := range ids {
			in.TransactItems = append(in.TransactItems, put(id))
		}
		_, err := c.TransactWriteItems(t.Context(), in)
		return err
	}
	if err := write("a"); err != nil {
		t.Fatal(err)
	}
	var cancelled *types.TransactionCanceledException
	if err := write("b", "a"); !errors.As(err, &cancelled) {
		t.Fatalf("got %v", err)
	}
	var codes []string
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	if diff := cmp.Diff([]string{"None", "ConditionalCheckFailed"}, codes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(attributes{"id": text("a")}, cancelled.CancellationReasons[1].Item, ignoreMarkers); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

func TestSDKRecognizesTheErrors(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	_, err := c.GetItem(t.Context(), getInput("none"))
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("missing table: %v", err)
	}
	_, err = c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("jobs"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if _, ok := errors.AsType[*types.ResourceInUseException](err); !ok {
		t.Errorf("second table of the name: %v", err)
	}
}
