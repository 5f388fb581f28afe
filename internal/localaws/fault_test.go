package localaws_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// bench is a server with the queues q and r, and a client that does not retry.
type bench struct {
	*testing.T
	server *localaws.Server
	client *awssqs.Client
}

func newBench(t *testing.T, retries bool) *bench {
	t.Helper()
	b := &bench{T: t, server: localaws.New(nil)}
	cfg := localtest.Config(b.server)
	if !retries {
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	}
	b.client = awssqs.NewFromConfig(cfg)
	for _, name := range []string{"q", "r"} {
		if _, err := b.client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: &name}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) send(ctx context.Context, queue string) error {
	_, err := b.client.SendMessage(ctx, &awssqs.SendMessageInput{
		QueueUrl: aws.String("http://localaws/000000000000/" + queue), MessageBody: aws.String("x"),
	})
	return err
}

// visible returns the number of visible messages in the queue q.
func (b *bench) visible() int { return b.server.SQS().Stats()[0].Visible }

func (b *bench) wantCode(err error, code string, status int) {
	b.Helper()
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	if !errors.As(err, &api) || api.ErrorCode() != code ||
		!errors.As(err, &response) || response.HTTPStatusCode() != status {
		b.Errorf("got %v, want %s with status %d", err, code, status)
	}
}

func TestFaultMatchesByOperationAndResource(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault localaws.Fault
		fails bool // for SendMessage to q
	}{
		"any":             {localaws.Fault{Code: "X"}, true},
		"operation":       {localaws.Fault{Code: "X", Operation: "SendMessage"}, true},
		"other operation": {localaws.Fault{Code: "X", Operation: "SendMessageBatch"}, false},
		"queue":           {localaws.Fault{Code: "X", Resource: "q"}, true},
		"other queue":     {localaws.Fault{Code: "X", Resource: "r"}, false},
		"both":            {localaws.Fault{Code: "X", Operation: "SendMessage", Resource: "q"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, false)
			b.server.Inject(tt.fault)
			if err := b.send(t.Context(), "q"); (err != nil) != tt.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFaultMatchesByTable(t *testing.T) {
	t.Parallel()
	s := localaws.New(nil)
	s.Inject(localaws.Fault{Resource: "ledger", Code: "InjectedException"})
	for _, body := range []string{
		`{"TableName":"ledger"}`,
		`{"RequestItems":{"other":[],"ledger":[]}}`,
		`{"TransactItems":[{"Put":{"TableName":"other"}},{"Update":{"TableName":"ledger"}}]}`,
	} {
		out := call(t, s, "DynamoDB_20120810.Any", body)
		text := make([]byte, out.ContentLength)
		_, _ = out.Body.Read(text)
		if !strings.Contains(string(text), "dynamodb.v20120810#InjectedException") {
			t.Errorf("%s: %s", body, text)
		}
	}
	other := dynamodb.NewFromConfig(localtest.Config(s))
	_, err := other.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("other")})
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "InjectedException" {
		t.Errorf("other table: %v", err)
	}
}

func TestFaultReturnsItsError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  localaws.Fault
		code   string
		status int
	}{
		"code":            {localaws.Fault{Code: "AccessDeniedException"}, "AccessDeniedException", 400},
		"code and status": {localaws.Fault{Code: "ServiceUnavailable", Status: 503}, "ServiceUnavailable", 503},
		"status":          {localaws.Fault{Status: 502}, "InternalFailure", 502},
		"after effect":    {localaws.Fault{AfterEffect: true}, "InternalFailure", 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, false)
			b.server.Inject(tt.fault)
			b.wantCode(b.send(t.Context(), "q"), tt.code, tt.status)
			effects := 0
			if tt.fault.AfterEffect {
				effects = 1
			}
			if got := b.visible(); got != effects {
				t.Errorf("%d messages sent, want %d", got, effects)
			}
		})
	}
}

func TestFaultsApplyTimesTimesOldestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.server.Inject(localaws.Fault{Code: "First", Times: 2})
	remove := b.server.Inject(localaws.Fault{Code: "Second"})
	for _, want := range []string{"First", "First", "Second", "Second", "Second"} {
		b.wantCode(b.send(t.Context(), "q"), want, 400)
	}
	remove()
	if err := b.send(t.Context(), "q"); err != nil {
		t.Errorf("after the fault was removed: %v", err)
	}
}

func TestFailedCallWithAfterEffectReturnsItsOwnError(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.server.Inject(localaws.Fault{AfterEffect: true})
	b.wantCode(b.send(t.Context(), "none"), "AWS.SimpleQueueService.NonExistentQueue", 400)
}

func TestFaultDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		b.server.Inject(localaws.Fault{Delay: time.Minute})
		start := time.Now()
		if err := b.send(t.Context(), "q"); err != nil || time.Since(start) != time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.send(ctx, "q"); !errors.Is(err, context.DeadlineExceeded) || b.visible() != 1 {
			t.Errorf("cancelled: %v, %d messages", err, b.visible())
		}
	})
}

func TestLostResponseIsRetriedByTheSDK(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		b.server.Inject(localaws.Fault{Operation: "SendMessage", Times: 1, AfterEffect: true, Reset: true})
		if err := b.send(t.Context(), "q"); err != nil || b.visible() != 2 {
			t.Errorf("%v, %d messages, want the same sent twice", err, b.visible())
		}
	})
}

func TestResetBreaksTheConnection(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, false)
		b.server.Inject(localaws.Fault{Reset: true})
		if err := b.send(t.Context(), "q"); !errors.Is(err, syscall.ECONNRESET) || b.visible() != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("over a socket", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, false)
		listener := httptest.NewServer(b.server)
		defer listener.Close()
		b.client = awssqs.New(b.client.Options(), func(o *awssqs.Options) {
			o.BaseEndpoint, o.HTTPClient = &listener.URL, listener.Client()
		})
		b.server.Inject(localaws.Fault{Reset: true})
		err := b.send(t.Context(), "q")
		var api smithy.APIError
		if err == nil || errors.As(err, &api) || b.visible() != 0 {
			t.Errorf("got %v, want a broken connection", err)
		}
	})
}

func TestFaultOfSomeEntries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault       localaws.Fault
		ids         []string
		ok          int
		failed      int
		senderFault bool
		sent        int
	}{
		"one of two":      {localaws.Fault{Entries: []string{"b"}}, []string{"a", "b"}, 1, 1, false, 1},
		"all":             {localaws.Fault{Entries: []string{"a", "b"}}, []string{"a", "b"}, 0, 2, false, 0},
		"none":            {localaws.Fault{Entries: []string{"z"}}, []string{"a", "b"}, 2, 0, false, 2},
		"after effect":    {localaws.Fault{Entries: []string{"b"}, AfterEffect: true}, []string{"a", "b"}, 1, 1, false, 2},
		"by the sender":   {localaws.Fault{Entries: []string{"a"}, Code: "AccessDenied"}, []string{"a"}, 0, 1, true, 0},
		"throttled entry": {localaws.Fault{Entries: []string{"a"}, Code: "Busy", Status: 503}, []string{"a"}, 0, 1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, false)
			b.server.Inject(tt.fault)
			in := &awssqs.SendMessageBatchInput{QueueUrl: aws.String("http://localaws/000000000000/q")}
			for _, id := range tt.ids {
				in.Entries = append(in.Entries,
					types.SendMessageBatchRequestEntry{Id: &id, MessageBody: aws.String("x")})
			}
			out, err := b.client.SendMessageBatch(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Successful) != tt.ok || len(out.Failed) != tt.failed || b.visible() != tt.sent {
				t.Errorf("%d ok, %d failed, %d sent", len(out.Successful), len(out.Failed), b.visible())
			}
			for _, f := range out.Failed {
				if f.SenderFault != tt.senderFault || *f.Code == "" {
					t.Errorf("failed: %s %v", *f.Code, f.SenderFault)
				}
			}
		})
	}
}
