package sqsafe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/fault"
)

// barrier answers calls when n of them have arrived.
type barrier struct {
	mu      sync.Mutex
	n       int
	waiting []chan struct{}
}

func (b *barrier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	answer := make(chan struct{})
	b.mu.Lock()
	b.waiting = append(b.waiting, answer)
	if len(b.waiting) == b.n {
		for _, c := range b.waiting {
			close(c)
		}
		b.waiting = nil
	}
	b.mu.Unlock()
	<-answer
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, "{}")
}

// A batch makes as many calls at a time as jobs run. The first batch opens the connections,
// and the later ones use them again.
func TestNoBatchAfterTheFirstOpensConnections(t *testing.T) {
	t.Parallel()
	const atATime = 64
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(&barrier{n: atATime})
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	lookup := lookupIn(map[string]string{"AWS_ENDPOINT_URL": server.URL})
	h := newHost(lookup, aws.Config{Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}})
	in := &dynamodb.UpdateItemInput{TableName: aws.String("t"), Key: map[string]types.AttributeValue{}}
	for range 3 {
		var calls sync.WaitGroup
		for range atATime {
			calls.Go(func() {
				if _, err := h.DynamoDB().UpdateItem(t.Context(), in); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	}
	if n := opened.Load(); n != atATime {
		t.Errorf("%d connections were opened for %d calls at a time", n, atATime)
	}
}

// The connection that is opened before the first event is the one of the first claim.
func TestTheFirstClaimFindsAConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg, err := lambdaConfig(lookupIn(w.env))
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(lookupIn(w.env), cfg)
	h.connect()
	in := &dynamodb.DescribeTableInput{TableName: aws.String("ledger")}
	if _, err := h.DynamoDB().DescribeTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if n := w.calls.Read().Connections; n != 1 {
		t.Errorf("%d connections were opened, want 1", n)
	}
}

// Without a network nothing waits and nothing fails.
func TestAConnectionThatCannotBeOpenedDoesNotMatter(t *testing.T) {
	t.Parallel()
	env := complete()
	env["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
	cfg, err := lambdaConfig(lookupIn(env))
	if err != nil {
		t.Fatal(err)
	}
	newHost(lookupIn(env), cfg).connect()
}

// endsAsNamed is a function for jobs whose ids say how they end: done, or as "retry" and "dead".
func endsAsNamed(_ context.Context, j job) error {
	switch {
	case strings.HasPrefix(j.ID, "retry"):
		return fault.Retryable(errors.New("later"))
	case strings.HasPrefix(j.ID, "dead"):
		return fault.Permanent(errors.New("no"))
	}
	return nil
}

// What a job sends to AWS. The bytes do not depend on the machine. The calls to SQS do a little:
// they are exact in virtual time, in TestRoundTripsOfTenJobs.
func TestWhatAJobCosts(t *testing.T) {
	t.Parallel()
	const jobs = 10
	for _, tt := range []struct {
		name  string
		calls int // to the ledger, of ten jobs
		bytes int // sent for each job, at most
	}{
		{"new", 20, 2500},
		{"duplicate", 10, 1450},
		{"retry", 20, 3450},
		{"dead", 30, 9100},
	} {
		for _, concurrency := range []string{"1", "10"} {
			t.Run(tt.name+"/"+concurrency, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.env[concurrencyVariable] = concurrency
				quiet := func(o *Options) { o.Logger = slog.New(slog.DiscardHandler) }
				p, _, err := newLambdaProcessor(lookupIn(w.env), endsAsNamed, []Option{KeyField("id"), quiet})
				if err != nil {
					t.Fatal(err)
				}
				handle := func(prefix string, batch int) {
					event := w.batch(jobs, prefix, batch)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if _, err := p.Handle(ctx, event); err != nil {
						t.Fatal(err)
					}
				}
				handle(tt.name, 0)
				w.calls.Reset()
				if tt.name == "duplicate" {
					handle(tt.name, 0)
				} else {
					handle(tt.name, 1)
				}
				got := w.calls.Read()
				if n := got.Calls["UpdateItem"]; n != tt.calls {
					t.Errorf("%v, want %d calls to the ledger", got.Calls, tt.calls)
				}
				if each := got.Bytes / jobs; each > tt.bytes {
					t.Errorf("%d bytes are sent for a job, want at most %d", each, tt.bytes)
				} else {
					t.Logf("%d bytes, %d connections", each, got.Connections)
				}
			})
		}
	}
}

// batch is a number of messages whose jobs have ids of their own.
func (w *world) batch(n int, prefix string, batch int) events.SQSEvent {
	event := events.SQSEvent{}
	for i := range n {
		id := fmt.Sprintf("%s-%d-%04d", prefix, batch, i)
		event.Records = append(event.Records, events.SQSMessage{
			MessageId:     fmt.Sprintf("%08x-0000-4000-8000-%012x", batch, i),
			ReceiptHandle: strings.Repeat("r", 412), Body: `{"id":"` + id + `","text":"` + strings.Repeat("x", 900) + `"}`,
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:jobs",
			Attributes: map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1767225600000"},
		})
	}
	return event
}
