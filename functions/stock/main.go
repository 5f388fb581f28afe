// Command stock is a Lambda function that takes goods from the stock, once for
// each id: the decrement and the record of the job are written in one
// transaction.
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

// newProcessor makes a processor whose ledger and stock share one client.
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
