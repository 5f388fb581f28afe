package main_test

import (
	"context"
	"debug/elf"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// build compiles the worker as the Dockerfile does.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "worker")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// newStack starts a stack with one charge in its queue and returns its address.
func newStack(t *testing.T) string {
	t.Helper()
	server := localaws.New(nil)
	config := localtest.Config(server)
	queues := sqs.NewFromConfig(config)
	for _, name := range []string{"dead", "jobs"} {
		if _, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := queues.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl:    aws.String(localtest.Endpoint + "/000000000000/jobs"),
		MessageBody: aws.String(`{"id":"ch-1","customer":"c-1","amount":1250,"currency":"EUR"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamodb.NewFromConfig(config).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	t.Cleanup(func() {
		for _, q := range server.SQS().Stats() {
			if n := q.Visible + q.NotVisible; n > 0 {
				t.Errorf("%d messages left in %s, want none", n, q.Name)
			}
		}
	})
	return web.URL
}

// checkStatic fails the test unless the binary can run in an image from
// scratch.
func checkStatic(t *testing.T, path string) {
	t.Helper()
	binary, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	for _, segment := range binary.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the binary wants a dynamic linker, which an image from scratch has not")
		}
	}
}

// processLimit is many times what the worker takes: one that hangs is killed.
const processLimit = 30 * time.Second

func TestAChargeFinishesAfterASignal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the image's binary runs on Linux only")
	}
	binary := build(t)
	checkStatic(t, binary)
	asked := make(chan string, 10)
	answer := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- r.Header.Get("Idempotency-Key")
		<-answer
	}))
	t.Cleanup(provider.Close)
	stack := newStack(t)
	limit, cancel := context.WithTimeout(t.Context(), processLimit)
	t.Cleanup(cancel)
	worker := exec.CommandContext(limit, binary)
	worker.Stderr = os.Stderr
	worker.Env = []string{
		"PAYMENT_URL=" + provider.URL, "AWS_ENDPOINT_URL=" + stack, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret",
		"SQSAFE_TABLE=ledger", "SQSAFE_DLQ_URL=" + stack + "/000000000000/dead", "SQSAFE_MAX_RECEIVES=30",
		"SQSAFE_QUEUE_URL=" + stack + "/000000000000/jobs", "SQSAFE_HEALTH_ADDR=off",
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case key := <-asked:
		if key == "" {
			t.Error("the provider got no idempotency key")
		}
	case <-limit.Done():
		t.Fatalf("no charge within %s", processLimit)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	close(answer)
	if err := worker.Wait(); err != nil {
		t.Errorf("the worker ended with %v, want a clean end within %s", err, processLimit)
	}
	if n := len(asked); n > 0 {
		t.Errorf("%d more charges, want one in all", n)
	}
}
