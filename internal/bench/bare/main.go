// Command bare is a function written with aws-lambda-go and nothing else: it
// reports the messages that failed, and does not log.
package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe/internal/bench/job"
)

func main() { lambda.Start(handle) }

func handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i := range event.Records {
		if err := one(ctx, event.Records[i].Body); err != nil {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: event.Records[i].MessageId})
		}
	}
	return response, nil
}

func one(ctx context.Context, body string) error {
	var order job.Order
	if err := json.Unmarshal([]byte(body), &order); err != nil {
		return err
	}
	return job.Do(ctx, order)
}
