package demo

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func TestTheStockIsFilledAndCounted(t *testing.T) {
	t.Parallel()
	tables := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	var s stock
	if err := s.seed(t.Context(), tables); err == nil || !strings.HasPrefix(err.Error(), "filling the stock: ") {
		t.Errorf("error %v, want one about the missing table", err)
	}
	if _, err := s.left(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "counting the stock: ") {
		t.Errorf("error %v, want one about the missing table", err)
	}
	_, err := tables.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(stockTable),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("sku"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("sku"), AttributeType: "S"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.seed(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	left, err := s.left(t.Context())
	if diff := cmp.Diff(map[string]int{seedSKU: seedQuantity}, left); diff != "" || err != nil {
		t.Errorf("error %v, left (-want +got):\n%s", err, diff)
	}
	_, err = tables.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(stockTable),
		Item:      map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: "sku-2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.left(t.Context()); err == nil || !strings.Contains(err.Error(), "want a sku and a quantity") {
		t.Errorf("error %v, want one about the item", err)
	}
}
