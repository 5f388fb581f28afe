package demo

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The stock at the start.
const (
	stockTable   = "StockTable"
	seedSKU      = "sku-1"
	seedQuantity = 10
)

// stock is the table of the stock function.
type stock struct{ tables *dynamodb.Client }

// seed creates the stock.
func (s *stock) seed(ctx context.Context, tables *dynamodb.Client) error {
	s.tables = tables
	_, err := tables.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(stockTable), Item: map[string]types.AttributeValue{
			"sku":      &types.AttributeValueMemberS{Value: seedSKU},
			"quantity": &types.AttributeValueMemberN{Value: strconv.Itoa(seedQuantity)},
		},
	})
	if err != nil {
		return fmt.Errorf("filling the stock: %w", err)
	}
	return nil
}

// left returns the remaining quantities by SKU.
func (s *stock) left(ctx context.Context) (map[string]int, error) {
	out, err := s.tables.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(stockTable), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("counting the stock: %w", err)
	}
	left := map[string]int{}
	for _, item := range out.Items {
		sku, _ := item["sku"].(*types.AttributeValueMemberS)
		quantity, _ := item["quantity"].(*types.AttributeValueMemberN)
		if sku == nil || quantity == nil {
			return nil, fmt.Errorf("counting the stock: an item is %v, want a sku and a quantity", item)
		}
		if left[sku.Value], err = strconv.Atoi(quantity.Value); err != nil {
			return nil, fmt.Errorf("counting the stock: %w", err)
		}
	}
	return left, nil
}
