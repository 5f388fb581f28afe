package localaws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

func TestUnsupportedProtocolsAndServicesAreNamed(t *testing.T) {
	t.Parallel()
	const hint = "POST with X-Amz-Target AmazonSQS or DynamoDB_20120810 or GraniteServiceVersion20100801"
	for name, tt := range map[string]struct {
		method, path, target, body string
		status                     int
		want                       []string
	}{
		"query protocol": {
			"POST", "/", "", "Action=SendMessage&Version=2012-11-05", 400,
			[]string{"<Code>UnsupportedProtocol</Code>", "SendMessage in the query protocol", hint},
		},
		"query protocol in the URL": {"GET", "/?Action=ListQueues", "", "", 400, []string{"ListQueues", hint}},
		"another operation of STS": {
			"POST", "/", "", "Action=AssumeRole&Version=2011-06-15", 400,
			[]string{"<Code>InvalidAction</Code>", "does not implement AssumeRole"},
		},
		"REST": {"PUT", "/bucket/key", "", "x", 404, []string{"PUT /bucket/key", hint}},
		"other service": {
			"POST", "/", "Logs_20140328.PutLogEvents", "{}", 400,
			[]string{`"__type":"com.amazon.coral.service#UnknownOperationException"`, "Logs_20140328.PutLogEvents", hint},
		},
		"no operation": {"POST", "/", "AmazonSQS", "{}", 400, []string{"AmazonSQS is not served", hint}},
		"not POST":     {"GET", "/", "AmazonSQS.ListQueues", "", 400, []string{"AmazonSQS.ListQueues is not served"}},
		"unknown operation": {
			"POST", "/", "AmazonSQS.ListMessages", "{}", 400,
			[]string{`"__type":"com.amazonaws.sqs#UnknownOperationException"`, "does not implement ListMessages"},
		},
		"not JSON": {
			"POST", "/", "AmazonSQS.SendMessage", "{", 400, []string{"#SerializationException", "SendMessage"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, "http://localaws"+tt.path, strings.NewReader(tt.body))
			if tt.target != "" {
				r.Header.Set("X-Amz-Target", tt.target)
			}
			w := httptest.NewRecorder()
			localaws.New(nil).ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("no %q in %s", want, w.Body)
				}
			}
		})
	}
}

func call(t *testing.T, s *localaws.Server, target, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://localaws/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", target)
	out, err := s.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHeadersOfResponses(t *testing.T) {
	t.Parallel()
	s := localaws.New(nil)
	none := call(t, s, "AmazonSQS.GetQueueUrl", `{"QueueName":"none"}`)
	if got, want := none.Header.Get("X-Amzn-Query-Error"), "AWS.SimpleQueueService.NonExistentQueue;Sender"; got != want {
		t.Errorf("x-amzn-query-error: got %q, want %q", got, want)
	}
	table := call(t, s, "DynamoDB_20120810.DescribeTable", `{"TableName":"none"}`)
	body, _ := io.ReadAll(table.Body)
	if !strings.Contains(string(body), `"com.amazonaws.dynamodb.v20120810#`) {
		t.Errorf("error of DynamoDB: %s", body)
	}
	if table.Header.Get("X-Amz-Crc32") == "" {
		t.Error("no checksum")
	}
	for length, out := range map[int]*http.Response{36: none, 52: table} {
		if len(out.Header.Get("X-Amzn-RequestId")) != length || out.ContentLength <= 0 ||
			out.Header.Get("Content-Type") != "application/x-amz-json-1.0" {
			t.Errorf("headers: %v", out.Header)
		}
	}
}

func TestOptionsSetClockRegionAndAccount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options *localaws.Options
		arn     string
	}{
		"nil":  {nil, "arn:aws:sqs:us-east-1:000000000000:q"},
		"zero": {&localaws.Options{}, "arn:aws:sqs:us-east-1:000000000000:q"},
		"set":  {&localaws.Options{Region: "eu-west-1", Account: "123456789012"}, "arn:aws:sqs:eu-west-1:123456789012:q"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := localaws.New(tt.options)
			client := awssqs.NewFromConfig(localtest.Config(s))
			_, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("q")})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.SQS().Stats()[0].ARN; got != tt.arn {
				t.Errorf("got %s, want %s", got, tt.arn)
			}
		})
	}
}

func TestServersShareNoState(t *testing.T) {
	t.Parallel()
	one, other := localaws.New(nil), localaws.New(nil)
	call(t, one, "AmazonSQS.CreateQueue", `{"QueueName":"q"}`)
	if n := len(other.SQS().Stats()); n != 0 {
		t.Errorf("%d queues in the other instance", n)
	}
}

func TestDynamoDBServesTheSDK(t *testing.T) {
	t.Parallel()
	client := dynamodb.NewFromConfig(localtest.Config(localaws.New(nil)))
	_, err := client.ListBackups(t.Context(), &dynamodb.ListBackupsInput{})
	var api smithy.APIError
	if !errors.As(err, &api) || !strings.Contains(api.ErrorMessage(), "ListBackups") {
		t.Errorf("got %v, want a refusal that names ListBackups", err)
	}
}

// Many consumers over real sockets: every message is received once.
func TestConcurrentConsumersReceiveEachMessageOnce(t *testing.T) {
	t.Parallel()
	const messages, consumers = 200, 8
	var events []sqs.Event
	s := localaws.New(&localaws.Options{Observe: func(e sqs.Event) { events = append(events, e) }})
	listener := httptest.NewServer(s)
	defer listener.Close()
	cfg := localtest.Config(s)
	cfg.BaseEndpoint = &listener.URL
	cfg.HTTPClient = &http.Client{Transport: wholeBody{listener.Client().Transport}}
	client := awssqs.NewFromConfig(cfg)
	queue, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(*queue.QueueUrl, listener.URL+"/") {
		t.Errorf("URL %s is not of the host that was called, %s", *queue.QueueUrl, listener.URL)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range consumers {
		wg.Go(func() { consume(ctx, t, client, queue.QueueUrl) })
	}
	for i := range messages {
		in := &awssqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(strconv.Itoa(i))}
		if _, err := client.SendMessage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SQS().Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	wg.Wait()
	sent := map[string]bool{}
	counts := map[sqs.Kind]int{}
	for _, e := range events {
		counts[e.Kind]++
		if e.Kind == sqs.Sent {
			sent[e.MessageID] = true
		} else if !sent[e.MessageID] {
			t.Fatalf("%s before it was sent", e.Kind)
		}
	}
	if counts[sqs.Sent] != messages || counts[sqs.Received] != messages || counts[sqs.Deleted] != messages {
		t.Errorf("events: %v", counts)
	}
}

// wholeBody wraps request bodies. The SDK closes its own as soon as a response
// begins. With a server this close that can be before net/http has finished
// reading them, which breaks the connection.
type wholeBody struct{ next http.RoundTripper }

func (w wholeBody) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return w.next.RoundTrip(r)
}

func consume(ctx context.Context, t *testing.T, client *awssqs.Client, queue *string) {
	for ctx.Err() == nil {
		out, err := client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
			QueueUrl: queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 20,
		})
		if err != nil {
			continue // the loop was cancelled, or a connection broke
		}
		var entries []types.DeleteMessageBatchRequestEntry
		for i, m := range out.Messages {
			entries = append(entries, types.DeleteMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle,
			})
		}
		if len(entries) == 0 {
			continue
		}
		in := &awssqs.DeleteMessageBatchInput{QueueUrl: queue, Entries: entries}
		if _, err := client.DeleteMessageBatch(t.Context(), in); err != nil {
			t.Error(err)
		}
	}
}
