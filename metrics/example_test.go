package metrics_test

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

// A function that does not use package sqsafe writes its metrics to standard
// output, where CloudWatch finds them.
func ExampleLines() {
	job := handler.Func(func(context.Context, *handler.Message) error { return nil })
	p, err := handler.NewProcessor(job, &handler.Options{
		Hooks: handler.Hooks{OnBatch: metrics.Lines(os.Stderr, nil)}, // os.Stdout in a function
	})
	if err != nil {
		panic(err)
	}
	response, err := p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1"}}})
	fmt.Println(response.BatchItemFailures, err)
	// Output: [] <nil>
}

func ExampleValues() {
	r := handler.Report{Messages: 2, Runs: 2, Counts: []handler.Count{
		{Outcome: handler.OutcomeDone, N: 1}, {Outcome: handler.OutcomeRetry, Reason: "timeout", N: 1},
	}}
	for _, v := range metrics.Values(r) {
		fmt.Println(v.Name, v.N, v.Unit)
	}
	// Output:
	// Messages 2 Count
	// Attempts 2 Count
	// Done 1 Count
	// Retry 1 Count
	// Unclassified 1 Count
	// Retry.timeout 1 Count
	// BatchTime 0 Milliseconds
}
