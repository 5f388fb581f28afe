package endpoint_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func TestAnEndpointIsAURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"http://localhost:4566", "https://sqs.eu-west-1.amazonaws.com", "http://[::1]:1/x"} {
		if err := endpoint.CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "localhost", "localhost:4566", "ftp://localhost", "http://", "http://a b", "::"} {
		if err := endpoint.CheckURL(bad); err == nil || !strings.Contains(err.Error(), "want a URL such as") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestAnErrorIsBrief(t *testing.T) {
	t.Parallel()
	engineServer := httptest.NewServer(localaws.New(nil))
	t.Cleanup(engineServer.Close)
	nobody := httptest.NewServer(nil)
	nobody.Close()
	plain := errors.New("plain")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"refused by the service", call(t.Context(), engineServer.URL), "AWS.SimpleQueueService.NonExistentQueue: "},
		{"nothing listens", call(t.Context(), nobody.URL), "dial tcp 127.0.0.1:"},
		{"cancelled", call(cancelled, engineServer.URL), "context canceled"},
		{"before any call", call(t.Context(), ""), "Missing Region"},
		{"not of the SDK", plain, "plain"},
	} {
		got := endpoint.Brief(tt.err)
		if !strings.Contains(got.Error(), tt.want) || strings.Contains(got.Error(), "operation error") {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func call(ctx context.Context, url string) error {
	config := endpoint.Config(url)
	if url == "" { // without a region there is none
		config.Region, config.BaseEndpoint = "", nil
	}
	_, err := sqs.NewFromConfig(config).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	return err
}

func TestARefusedConnectionIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	nobody := httptest.NewServer(nil)
	nobody.Close()
	err := call(t.Context(), nobody.URL)
	if !endpoint.Refused(err) || strings.Contains(err.Error(), "exceeded maximum number of attempts") {
		t.Errorf("error %v, want one refusal", err)
	}
	if endpoint.Refused(errors.New("else")) {
		t.Error("another error is taken for a refused connection")
	}
	server := localaws.New(nil)
	server.Inject(localaws.Fault{Times: 1})
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	_, err = sqs.NewFromConfig(endpoint.Config(web.URL)).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		t.Errorf("a failure of the server is not tried again: %v", err)
	}
}
