package worker_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/worker"
)

type parcel struct {
	ID string `json:"id"`
}

// A worker for a program that wires its processor itself. Most only need Start.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil))) // or that of the SDK's config package
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("parcels")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: aws.String(`{"id":"p-1"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	quiet := slog.New(slog.DiscardHandler)
	w, err := worker.New(client, &worker.Options{QueueURL: *queue.QueueUrl, Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	ship := func(_ context.Context, p parcel) error {
		fmt.Println("shipped", p.ID)
		stop() // in a program, a signal does
		return nil
	}
	p, err := handler.NewProcessor(handler.JSON(ship), &handler.Options{Queue: w.Queue(), Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Run(ctx, p)
	fmt.Println("exit code", worker.ExitCode(err))
	// Output:
	// shipped p-1
	// exit code 0
}

// Start is all that a main needs; its settings come from the environment.
func ExampleStart() {
	worker.Start(func(_ context.Context, p parcel) error {
		fmt.Println("shipping", p.ID)
		return nil
	})
}

// console is where a program's metrics go that has no CloudWatch.
type console struct{}

func (console) PutMetricData(
	_ context.Context, in *cloudwatch.PutMetricDataInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.PutMetricDataOutput, error) {
	for _, d := range in.MetricData {
		if d.Unit == types.StandardUnitCount {
			fmt.Println(*in.Namespace, *d.MetricName, *d.StatisticValues.Sum)
		}
	}
	return &cloudwatch.PutMetricDataOutput{}, nil
}

// The metrics of the jobs go out once a minute, and when the worker ends.
func ExampleWorker_OnBatch() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("parcels")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("p-1")})
	if err != nil {
		fmt.Println(err)
		return
	}

	quiet := slog.New(slog.DiscardHandler)
	w, err := worker.New(client, &worker.Options{
		QueueURL: *queue.QueueUrl, Logger: quiet,
		Metrics: console{}, // in a program, a *cloudwatch.Client
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ship := handler.Func(func(context.Context, *handler.Message) error {
		stop()
		return nil
	})
	p, err := handler.NewProcessor(ship, &handler.Options{
		Queue: w.Queue(), Logger: quiet, Hooks: handler.Hooks{OnBatch: w.OnBatch},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Run(ctx, p)
	fmt.Println("exit code", worker.ExitCode(err))
	// Output:
	// sqsafe Attempts 1
	// sqsafe BudgetUsed 0
	// sqsafe Done 1
	// sqsafe Messages 1
	// exit code 0
}
