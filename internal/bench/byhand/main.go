// Command byhand is what people write without this module, to let each message take effect
// once: a conditional put before the work, and an update after it. A job that failed is
// deleted, so that it can run again. BENCH_CONCURRENCY messages run at a time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/bench/job"
)

type function struct {
	client *dynamodb.Client
	table  string
	atOnce int
}

func main() {
	atOnce, err := strconv.Atoi(os.Getenv("BENCH_CONCURRENCY"))
	if err != nil || atOnce < 1 {
		fmt.Fprintln(os.Stderr, "BENCH_CONCURRENCY is not a number above 0")
		os.Exit(1)
	}
	f := function{
		client: dynamodb.NewFromConfig(aws.Config{
			Region:       os.Getenv("AWS_REGION"),
			Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", "token"),
			BaseEndpoint: aws.String(os.Getenv("BENCH_ENDPOINT")),
		}),
		table:  os.Getenv("SQSAFE_TABLE"),
		atOnce: atOnce,
	}
	lambda.Start(f.handle)
}

func (f function) handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	errs := make([]error, len(event.Records))
	free := make(chan struct{}, f.atOnce)
	var running sync.WaitGroup
	for i := range event.Records {
		free <- struct{}{}
		running.Go(func() {
			errs[i] = f.one(ctx, &event.Records[i])
			<-free
		})
	}
	running.Wait()
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range errs {
		if err != nil {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: event.Records[i].MessageId})
		}
	}
	return response, nil
}

func (f function) one(ctx context.Context, m *events.SQSMessage) error {
	key := map[string]types.AttributeValue{"id": text(m.MessageId)}
	if done, err := f.claim(ctx, m.MessageId); done || err != nil {
		return err
	}
	var order job.Order
	err := json.Unmarshal([]byte(m.Body), &order)
	if err == nil {
		err = job.Do(ctx, order)
	}
	if err != nil {
		_, undo := f.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &f.table, Key: key})
		return errors.Join(err, undo)
	}
	_, err = f.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &f.table, Key: key,
		UpdateExpression:         aws.String("SET #status = :done, expiration = :expiration"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":done": text("COMPLETED"), ":expiration": number(time.Now().Add(keep).Unix()),
		},
	})
	return err
}

const (
	keep  = 30 * 24 * time.Hour
	lease = time.Minute
)

// claim reports whether the message took effect before.
func (f function) claim(ctx context.Context, id string) (done bool, err error) {
	now := time.Now()
	_, err = f.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &f.table,
		Item: map[string]types.AttributeValue{
			"id": text(id), "status": text("INPROGRESS"),
			"expiration": number(now.Add(keep).Unix()), "lease": number(now.Add(lease).UnixMilli()),
		},
		ConditionExpression: aws.String("attribute_not_exists(id) OR expiration < :now OR " +
			"(#status = :running AND lease < :nowMillis)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":running": text("INPROGRESS"), ":now": number(now.Unix()), ":nowMillis": number(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var taken *types.ConditionalCheckFailedException
	if !errors.As(err, &taken) {
		return false, err
	}
	if status, ok := taken.Item["status"].(*types.AttributeValueMemberS); ok && status.Value == "COMPLETED" {
		return true, nil
	}
	return false, err
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
