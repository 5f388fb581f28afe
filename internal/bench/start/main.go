// Command start does what ours does, with all that sqsafe.Start has: the ledger in
// DynamoDB, the dead-letter queue and the metrics.
//
// It names the endpoint by its configuration, not by AWS_ENDPOINT_URL: with that variable
// each request is copied, which is not so at AWS.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/internal/bench/job"
	"github.com/sqsafe/sqsafe/metrics"
)

func main() {
	work := job.Do
	if os.Getenv("BENCH_WORK") == "mixed" {
		work = mixed
	}
	p, err := sqsafe.NewProcessorOn(sqsafe.NewHost(aws.Config{
		Region:       os.Getenv("AWS_REGION"),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", "token"),
		BaseEndpoint: aws.String(os.Getenv("BENCH_ENDPOINT")),
	}), work, func(o *sqsafe.Options) {
		o.Hooks.OnBatch = metrics.Lines(os.Stdout, nil)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.StartWithOptions(p, lambda.WithEnableSIGTERM())
}
