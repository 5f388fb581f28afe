package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/tally"
)

// latency is how long the emulator of DynamoDB waits before it answers a write. Without it
// calls that run side by side would find each other done.
const latency = 2 * time.Millisecond

const tableName, deadName = "ledger", "dead"

// services are the emulators of SQS and DynamoDB for one process, on loopback. They run in
// this process, so their processor time is not counted.
type services struct {
	tally  tally.Tally
	url    string
	server *http.Server
	tables *dynamodb.Client
	// atOnce ends the latency.
	atOnce []func()
}

// startServices starts emulators with an empty table and a dead-letter queue.
func startServices(ctx context.Context) (*services, error) {
	emulator := localaws.New(nil)
	config := aws.Config{
		Region: emulator.Region(), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		BaseEndpoint: aws.String("http://localhost"), HTTPClient: &http.Client{Transport: emulator.Transport()},
	}
	s := &services{tables: dynamodb.NewFromConfig(config)}
	_, err := s.tables.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		return nil, err
	}
	queue := &sqs.CreateQueueInput{QueueName: aws.String(deadName)}
	if _, err := sqs.NewFromConfig(config).CreateQueue(ctx, queue); err != nil {
		return nil, err
	}
	for _, operation := range []string{"PutItem", "UpdateItem", "DeleteItem"} {
		s.atOnce = append(s.atOnce, emulator.Inject(localaws.Fault{Operation: operation, Delay: latency}))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s.tally.Handler(emulator), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(s.tally.Listener(listener)) }() // ends with close
	return s, nil
}

func (s *services) close() error { return s.server.Close() }

// environment tells a process where the services are.
func (s *services) environment() map[string]string {
	return map[string]string{
		"BENCH_ENDPOINT": s.url, "AWS_ENDPOINT_URL": s.url, "SQSAFE_TABLE": tableName,
		"SQSAFE_DLQ_URL": s.url + "/000000000000/" + deadName, "SQSAFE_MAX_RECEIVES": "30",
	}
}

// itemBytes is the mean size of the items in the table, without DynamoDB's own overhead.
func (s *services) itemBytes(ctx context.Context) (int, error) {
	out, err := s.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(tableName)})
	if err != nil {
		return 0, err
	}
	items := aws.ToInt64(out.Table.ItemCount)
	if items == 0 {
		return 0, errors.New("the table is empty")
	}
	return int(aws.ToInt64(out.Table.TableSizeBytes) / items), nil
}
