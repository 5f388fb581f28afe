package queue_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/queue"
)

// localQueue is a queue of the emulator, behind the SDK's own client.
type localQueue struct {
	client *sqs.Client
	url    string
}

func newLocalQueue(t *testing.T, server *localaws.Server) localQueue {
	t.Helper()
	client := sqs.NewFromConfig(localtest.Config(server))
	created, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("charge")})
	if err != nil {
		t.Fatal(err)
	}
	return localQueue{client, *created.QueueUrl}
}

func (q localQueue) send(t *testing.T) {
	t.Helper()
	_, err := q.client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: aws.String("{}")})
	if err != nil {
		t.Fatal(err)
	}
}

// receive gives the visible messages, each hidden for 30 s.
func (q localQueue) receive(t *testing.T) []*handler.Message {
	t.Helper()
	out, err := q.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &q.url, VisibilityTimeout: 30, MaxNumberOfMessages: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	var ms []*handler.Message
	for _, received := range out.Messages {
		m := messages("arn:aws:sqs:us-east-1:000000000000:charge", "", 1)[0]
		m.ReceiptHandle = *received.ReceiptHandle
		ms = append(ms, m)
	}
	return ms
}

func TestVisibilityReallyChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newLocalQueue(t, localaws.New(nil))
		q.send(t)
		source := newClient(t, q.client, &queue.Options{Endpoint: localtest.Endpoint})

		if err := hide(t.Context(), source, 5*time.Minute, q.receive(t)[0])[0]; err != nil {
			t.Fatal(err)
		}
		<-time.After(299 * time.Second)
		if ms := q.receive(t); len(ms) != 0 {
			t.Fatal("the message came back a second too early")
		}
		<-time.After(2 * time.Second)
		if ms := q.receive(t); len(ms) != 1 {
			t.Fatal("the message did not come back")
		}
	})
}

// An entry fails once on the side of SQS while its call succeeds.
func TestAMessageWhoseDeletionFailsOnceIsDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := localaws.New(nil)
		q := newLocalQueue(t, server)
		q.send(t)
		q.send(t)
		for _, operation := range []string{"DeleteMessageBatch", "ChangeMessageVisibilityBatch"} {
			server.Inject(localaws.Fault{
				Operation: operation, Times: 1, Code: "InternalError", Status: http.StatusInternalServerError,
				Entries: []string{"0"},
			})
		}
		source := newClient(t, q.client, &queue.Options{Endpoint: localtest.Endpoint})
		ms := q.receive(t)
		if err := errors.Join(hide(t.Context(), source, time.Minute, ms...)...); err != nil {
			t.Errorf("change: %v", err)
		}
		if err := errors.Join(remove(t.Context(), source, ms...)...); err != nil {
			t.Errorf("deletion: %v", err)
		}
		<-time.After(time.Hour)
		if ms := q.receive(t); len(ms) != 0 {
			t.Errorf("%d messages came back", len(ms))
		}
	})
}

func TestDeletedMessagesStayAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newLocalQueue(t, localaws.New(nil))
		q.send(t)
		source := newClient(t, q.client, &queue.Options{Endpoint: localtest.Endpoint})

		broken := messages("arn:aws:sqs:us-east-1:000000000000:charge", "no-receipt", 1)[0]
		errs := remove(t.Context(), source, append(q.receive(t), broken)...)
		if errs[0] != nil {
			t.Fatal(errs[0])
		}
		var refused *queue.EntryError
		if !errors.As(errs[1], &refused) || refused.Code != "ReceiptHandleIsInvalid" || !refused.SenderFault {
			t.Errorf("error for a broken receipt handle: %v", errs[1])
		}
		<-time.After(time.Hour)
		if ms := q.receive(t); len(ms) != 0 {
			t.Error("the deleted message came back")
		}
	})
}
