package dlq_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// throughSDK sends letters with the SDK's own client to a strict stand-in and
// gives what a receive of the dead-letter queue then shows.
func throughSDK(t *testing.T, name string, settings map[string]string, letters []handler.Letter) []types.Message {
	t.Helper()
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
	created, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: settings})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range send(t.Context(), t, client, *created.QueueUrl, quiet, letters...) {
		if err := l.Answer(); err != nil {
			t.Fatalf("letter %d: %v", i, err)
		}
	}
	received, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: created.QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return received.Messages
}

func TestALetterArrivesThroughTheSDK(t *testing.T) {
	t.Parallel()
	const body = "{ \"a\":1,\"a\":2 }\r\n\t<b>&amp;</b> \u2028 😀"
	m := message("first", body, map[string]string{"tenant": "t1"})
	m.MessageAttributes["count"] = events.SQSMessageAttribute{DataType: "Number.int", StringValue: aws.String("7")}
	m.MessageAttributes["png"] = events.SQSMessageAttribute{DataType: "Binary.png", BinaryValue: []byte{0, 255}}
	m.Attributes = map[string]string{"AWSTraceHeader": "Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:a:0"}
	l := letterOf(m)
	l.Failure.Message = "bad \x00 \uffff bytes \xff"

	got := throughSDK(t, "charge-dlq", nil, []handler.Letter{l})[0]
	if *got.Body != body {
		t.Errorf("body %q, want %q", *got.Body, body)
	}
	seen := restored(delivered(requestEntry{MessageBody: got.Body, MessageAttributes: got.MessageAttributes}, "x"))
	sameAttributes(t, seen.MessageAttributes, m.MessageAttributes)
	if trace := got.Attributes["AWSTraceHeader"]; trace != "Root=1-5759e988-bd862e3fe1be46a994272793" {
		t.Errorf("trace header %q", trace)
	}
	if r, err := dlq.Open(got); err != nil || r.Message != "bad \ufffd \ufffd bytes \ufffd" {
		t.Errorf("record %+v, error %v", r, err)
	}
}

func TestAMessageOfOneMiBArrivesThroughTheSDK(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 3<<18)
	for i := range noise {
		noise[i] = byte(i * i >> 8)
	}
	body := base64.StdEncoding.EncodeToString(noise)
	got := throughSDK(t, "charge-dlq", nil, []handler.Letter{letterOf(message("m", body, nil))})[0]
	if len(body) != 1<<20 || *got.Body != body {
		t.Errorf("%d of %d bytes arrived", len(*got.Body), len(body))
	}
}

func TestFIFOThroughTheSDK(t *testing.T) {
	t.Parallel()
	death := func(id, key string) handler.Letter {
		m := message(id, "{}", nil)
		m.Attributes = map[string]string{"MessageGroupId": "g1"}
		return handler.Letter{Message: m, Failure: handler.Failure{Key: key, Verdict: key != ""}}
	}
	// The second is a copy with the verdict of the first.
	ls := []handler.Letter{death("m-1", "stock:1"), death("m-2", "stock:1"), death("m-3", ""), death("m-4", "")}
	var arrived []string
	for _, m := range throughSDK(t, "stock-dlq.fifo", map[string]string{"FifoQueue": "true"}, ls) {
		r, err := dlq.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		arrived = append(arrived, r.MessageID+" "+m.Attributes["MessageGroupId"])
	}
	if got, want := fmt.Sprint(arrived), "[m-1 g1 m-3 g1 m-4 g1]"; got != want {
		t.Errorf("arrived %s, want %s", got, want)
	}
}
