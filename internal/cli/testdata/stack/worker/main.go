// Command worker is a function for tests: it prints its messages and fails
// those whose body is "fail".
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func handle(_ context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	answer := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, m := range batch.Records {
		if os.Getenv("QUIET") == "" {
			fmt.Println("got", m.Attributes["MessageGroupId"], m.Body)
		}
		if m.Body == "fail" {
			answer.BatchItemFailures = append(answer.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return answer, nil
}

func main() { lambda.Start(handle) }
