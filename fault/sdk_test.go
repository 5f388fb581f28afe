package fault_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/fault"
)

// answer is a service that returns the same response to every request.
type answer struct {
	status     int
	queryError string
	body       string
	retryAfter string
}

func (a answer) RoundTrip(req *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	if a.queryError != "" {
		header.Set("X-Amzn-Query-Error", a.queryError)
	}
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	return &http.Response{
		StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: req,
		ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

var keys = credentials.NewStaticCredentialsProvider("id", "secret", "")

func send(t *testing.T, client *http.Client, endpoint string) error {
	t.Helper()
	service := sqs.New(sqs.Options{
		Region: "eu-central-1", Credentials: keys, HTTPClient: client, Retryer: aws.NopRetryer{},
		BaseEndpoint: aws.String(endpoint),
	})
	_, err := service.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(endpoint + "/000000000000/orders"), MessageBody: aws.String("{}"),
	})
	return err
}

func transact(t *testing.T, retryer aws.Retryer, a answer) error {
	t.Helper()
	service := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", Credentials: keys, HTTPClient: &http.Client{Transport: a}, Retryer: retryer,
	})
	_, err := service.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{},
	})
	return err
}

func TestRetryAfterInAResponseOfTheSDK(t *testing.T) {
	t.Parallel()
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}`
	err := transact(t, aws.NopRetryer{}, answer{status: 400, body: body, retryAfter: "9"})
	if d := fault.Classify(t.Context(), err); d.Rule != "aws.throttle" || d.RetryAfter != 9*time.Second {
		t.Errorf("%+v of %v, want a delay of 9 s", d, err)
	}
}

// TestAnAnswerThatIsNoJSONSaysNothingOfThePayload has what proxies and load balancers write.
func TestAnAnswerThatIsNoJSONSaysNothingOfThePayload(t *testing.T) {
	t.Parallel()
	for status, rule := range map[int]string{
		503: "http.5xx", 429: "http.429", 403: "http.403", 200: fault.RuleUnknown,
	} {
		client := &http.Client{Transport: answer{status: status, body: "<html>busy</html>", retryAfter: "5"}}
		err := send(t, client, "https://sqs.example")
		d := fault.Classify(t.Context(), errors.Join(errors.New("another"), err))
		if d.Rule != rule || d.Class == permanent || d.RetryAfter != 5*time.Second {
			t.Errorf("status %d: %+v of %v, want rule %s and a delay of 5 s", status, d, err, rule)
		}
	}
}

func TestErrorResponsesOfSQS(t *testing.T) {
	t.Parallel()
	const service = "com.amazonaws.sqs#"
	tests := []struct {
		status           int
		code, queryError string
		rule             string
	}{
		{400, service + "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender", "aws.environment"},
		{400, service + "QueueDoesNotExist", "", "aws.environment"},
		{403, "com.amazon.coral.service#AccessDeniedException", "AccessDenied;Sender", "aws.environment"},
		{403, "com.amazon.coral.service#InvalidSignatureException", "InvalidSignature;Sender", "aws.environment"},
		{400, service + "KmsDisabled", "KMS.DisabledException;Sender", "aws.environment"},
		{400, service + "KmsThrottled", "KMS.ThrottlingException;Sender", "aws.throttle"},
		{403, service + "OverLimit", "OverLimit;Sender", "aws.throttle"},
		{403, service + "PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress;Sender", "aws.conflict"},
		{400, service + "QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently;Sender", "aws.environment"},
		{400, service + "RequestThrottled", "RequestThrottled;Sender", "aws.throttle"},
		{400, service + "InvalidMessageContents", "InvalidMessageContents;Sender", "http.4xx"},
		{400, service + "UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation;Sender", "http.4xx"},
		{500, "com.amazon.coral.service#InternalFailure", "InternalFailure;Receiver", "aws.unavailable"},
		{503, "com.amazon.coral.service#ServiceUnavailable", "ServiceUnavailable;Receiver", "aws.unavailable"},
		{429, "com.example#Unheard", "", "http.429"},
		{504, "com.example#Unheard", "", "http.5xx"},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			body := `{"__type":"` + tt.code + `","message":"no"}`
			transport := answer{status: tt.status, queryError: tt.queryError, body: body}
			err := send(t, &http.Client{Transport: transport}, "https://sqs.eu-central-1.amazonaws.com")
			wantRuleOf(t, err, tt.rule)
		})
	}
}

func TestErrorResponsesOfDynamoDB(t *testing.T) {
	t.Parallel()
	const service, common = "com.amazonaws.dynamodb.v20120810#", "com.amazon.coral.service#"
	tests := []struct {
		status int
		code   string
		rule   string
	}{
		{400, service + "ProvisionedThroughputExceededException", "aws.throttle"},
		{400, service + "RequestLimitExceeded", "aws.throttle"},
		{400, service + "LimitExceededException", "aws.throttle"},
		{400, service + "TransactionInProgressException", "aws.throttle"},
		{400, common + "ThrottlingException", "aws.throttle"},
		{400, service + "TransactionConflictException", "aws.conflict"},
		{400, service + "ReplicatedWriteConflictException", "aws.conflict"},
		{400, service + "ResourceInUseException", "aws.conflict"},
		{500, service + "InternalServerError", "aws.unavailable"},
		{503, common + "ServiceUnavailable", "aws.unavailable"},
		{400, service + "ResourceNotFoundException", "aws.environment"},
		{400, common + "ExpiredTokenException", "aws.environment"},
		{400, common + "UnrecognizedClientException", "aws.environment"},
		{400, common + "AccessDeniedException", "aws.environment"},
		{400, "com.amazon.coral.validate#ValidationException", "aws.validation"},
		{400, service + "ConditionalCheckFailedException", "http.4xx"},
		{400, service + "ItemCollectionSizeLimitExceededException", "http.4xx"},
		{400, service + "IdempotentParameterMismatchException", "http.4xx"},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			body := `{"__type":"` + tt.code + `","message":"no"}`
			wantRuleOf(t, transact(t, aws.NopRetryer{}, answer{status: tt.status, body: body}), tt.rule)
		})
	}
}

func TestCancelledTransactionsOfDynamoDB(t *testing.T) {
	t.Parallel()
	for reasons, rule := range map[string]string{
		"None, TransactionConflict":                            "aws.transaction",
		"ThrottlingError, None":                                "aws.transaction",
		"ProvisionedThroughputExceeded":                        "aws.transaction",
		"TransactionConflict, ConditionalCheckFailed":          "http.4xx",
		"TransactionConflict, ItemCollectionSizeLimitExceeded": "http.4xx",
		"TransactionConflict, ValidationError":                 "http.4xx",
		"None":                                                 "http.4xx",
	} {
		body := `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":` +
			`"Transaction cancelled, please refer cancellation reasons for specific reasons [` + reasons + `]"}`
		wantRuleOf(t, transact(t, aws.NopRetryer{}, answer{status: 400, body: body}), rule)
	}
}

func TestErrorsAreClassifiedAfterTheSDKsRetries(t *testing.T) {
	t.Parallel()
	throttled := answer{status: 400, body: `{"__type":"com.amazon.coral.service#ThrottlingException","message":"no"}`}
	standard := func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	}
	t.Run("attempts", func(t *testing.T) {
		t.Parallel()
		wantRuleOf(t, transact(t, retry.NewStandard(standard), throttled), "aws.throttle")
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		empty := retry.NewStandard(standard, func(o *retry.StandardOptions) { o.RateLimiter = noTokens{} })
		err := transact(t, empty, throttled)
		if !errors.Is(err, errNoTokens) {
			t.Errorf("%v: want one that names the lack of tokens", err)
		}
		wantRuleOf(t, err, "aws.throttle")
	})
}

var errNoTokens = errors.New("no tokens")

type noTokens struct{}

func (noTokens) GetToken(context.Context, uint) (func() error, error) { return nil, errNoTokens }
func (noTokens) AddTokens(uint) error                                 { return nil }

func TestNetworkBelowTheSDK(t *testing.T) {
	t.Parallel()
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		url := server(t, func(conn *net.TCPConn) error { return errors.Join(conn.SetLinger(0), conn.Close()) })
		wantRule(t, send(t, &http.Client{}, url), "net.reset")
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		wantRule(t, send(t, &http.Client{}, closed.URL), "net.refused")
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		hung := make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
		t.Cleanup(slow.Close)
		t.Cleanup(func() { close(hung) })
		wantRule(t, send(t, &http.Client{Timeout: 10 * time.Millisecond}, slow.URL), "net.timeout")
	})
	t.Run("cut short", func(t *testing.T) {
		t.Parallel()
		url := server(t, func(conn *net.TCPConn) error {
			_, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"))
			return errors.Join(err, conn.Close())
		})
		wantRule(t, send(t, &http.Client{}, url), "net.eof")
	})
}

// wantRuleOf fails the test unless the rule matches the error, whatever its
// class.
func wantRuleOf(t *testing.T, err error, rule string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error to classify")
	}
	if got := fault.Classify(t.Context(), err); got.Rule != rule {
		t.Errorf("%v (%v): rule %q, want %q", err, fault.Types(err), got.Rule, rule)
	}
}
