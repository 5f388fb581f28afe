// Command stock is a Lambda function that takes goods from the stock, once for
// each id: what it takes and the record of it are written in one transaction.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/functions/internal/stock"
	"github.com/sqsafe/sqsafe/handler"
)

func main() {
	processor, err := newProcessor()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stock:", err)
		os.Exit(1)
	}
	lambda.StartWithOptions(processor.Handle, lambda.WithEnableSIGTERM())
}

// newProcessor lets the ledger and the stock share one client.
func newProcessor() (*handler.Processor, error) {
	cfg, err := sqsafe.LambdaConfig()
	if err != nil {
		return nil, err
	}
	host := sqsafe.NewHost(cfg)
	goods, err := stock.New(host.DynamoDB(), os.Getenv("STOCK_TABLE"))
	if err != nil {
		return nil, err
	}
	return sqsafe.NewProcessorOn(host, goods.Take, sqsafe.KeyField("id"))
}
