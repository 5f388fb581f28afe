package local

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// TestTheAgeIsKnownUnderLoad asks while messages come and go all the time.
func TestTheAgeIsKnownUnderLoad(t *testing.T) {
	t.Parallel()
	s := &Stack{server: localaws.New(nil)}
	client := awssqs.NewFromConfig(localtest.Config(s.server))
	queue, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("jobs")})
	if err != nil {
		t.Fatal(err)
	}
	send := func() {
		in := &awssqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("x")}
		if _, err := client.SendMessage(t.Context(), in); err != nil {
			t.Error(err)
		}
	}
	send()
	server := httptest.NewServer(http.HandlerFunc(s.serveAges))
	t.Cleanup(server.Close)
	first, err := Oldest(t.Context(), server.URL)
	if err != nil || first["jobs"].IsZero() {
		t.Fatalf("ages %v, error %v", first, err)
	}
	stop := make(chan struct{})
	var sending sync.WaitGroup
	for range 4 {
		sending.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					send()
				}
			}
		})
	}
	for range 20 {
		if got, err := Oldest(t.Context(), server.URL); err != nil || !got["jobs"].Equal(first["jobs"]) {
			t.Errorf("the oldest message came at %v, want %v; error %v", got["jobs"], first["jobs"], err)
		}
	}
	close(stop)
	sending.Wait()
}

func TestAnotherEngineHasNoAges(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	if _, err := Oldest(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("error %v, want HTTP 404", err)
	}
	server.Close()
	if _, err := Oldest(t.Context(), server.URL); err == nil {
		t.Error("no error although nothing listens")
	}
	if _, err := Oldest(t.Context(), "::"); err == nil {
		t.Error("no error for what is no URL")
	}
}
