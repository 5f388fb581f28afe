package dlq_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// deadLetters is a queue of a strict emulator, behind the SDK's own client.
type deadLetters struct {
	*testing.T
	server *localaws.Server
	client *sqs.Client
	url    string
}

func newDeadLetters(t *testing.T, name string) *deadLetters {
	t.Helper()
	d := &deadLetters{T: t, server: localaws.New(nil)}
	d.client = sqs.NewFromConfig(localtest.Config(d.server))
	in := &sqs.CreateQueueInput{QueueName: &name}
	if strings.HasSuffix(name, ".fifo") {
		in.Attributes = map[string]string{"FifoQueue": "true"}
	}
	created, err := d.client.CreateQueue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	d.url = *created.QueueUrl
	return d
}

// send sends the letters, all of which must be confirmed.
func (d *deadLetters) send(letters ...handler.Letter) {
	d.Helper()
	for i, l := range send(d.Context(), d, d.client, d.url, quiet, letters...) {
		if err := l.Answer(); err != nil {
			d.Fatalf("letter %d: %v", i, err)
		}
	}
}

// take receives the letters and deletes them.
func (d *deadLetters) take() []types.Message {
	d.Helper()
	received, err := d.client.ReceiveMessage(d.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &d.url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		d.Fatal(err)
	}
	for _, m := range received.Messages {
		in := &sqs.DeleteMessageInput{QueueUrl: &d.url, ReceiptHandle: m.ReceiptHandle}
		if _, err := d.client.DeleteMessage(d.Context(), in); err != nil {
			d.Fatal(err)
		}
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

	d := newDeadLetters(t, "charge-dlq")
	d.send(l)
	got := d.take()[0]
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
	d := newDeadLetters(t, "charge-dlq")
	d.send(letterOf(message("m", body, nil)))
	got := d.take()[0]
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
	d := newDeadLetters(t, "stock-dlq.fifo")
	d.send(ls...)
	var arrived []string
	for _, m := range d.take() {
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

// A job dies, its letter is taken, the ledger forgets the job, and within the five
// minutes in which SQS remembers the id it is sent again and dies again.
func TestASecondDeathOfAForgottenJobHasItsLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeadLetters(t, "stock-dlq.fifo")
		death := func(id string) handler.Letter {
			m := message(id, "{}", nil)
			m.Attributes = map[string]string{"MessageGroupId": "g1"}
			last := handler.NewTimestamp(time.Now())
			return handler.Letter{Message: m, Failure: handler.Failure{Key: "stock:1", Verdict: true, Last: last}}
		}
		first := death("m-1")
		d.send(first)
		d.send(handler.Letter{Message: first.Message, Failure: throughLedger(t, first.Failure)}) // repeated
		if got := d.take(); len(got) != 1 {
			t.Errorf("%d letters of the first death, want 1", len(got))
		}
		<-time.After(time.Minute)
		d.send(death("m-2"))
		if got := d.take(); len(got) != 1 {
			t.Errorf("%d letters of the second death, want 1", len(got))
		}
	})
}

// Somebody else wrote the record, with attributes that SQS would refuse. The job
// dies, and the letters beside it do too.
func TestAForgedRecordKeepsNoLetterBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 257)
	displaced := map[string]dlq.Attribute{
		"AWS.Trace": {Type: "String", Value: aws.String("v")}, "amazon.x": {Type: "String", Value: aws.String("v")},
		"a..b": {Type: "String", Value: aws.String("v")}, ".a": {Type: "String", Value: aws.String("v")},
		"ä": {Type: "String", Value: aws.String("v")}, "": {Type: "String", Value: aws.String("v")},
		long: {Type: "String", Value: aws.String("v")}, "type": {Type: "String." + long, Value: aws.String("v")},
		"text": {Type: "String", Value: aws.String("a\x00b")}, "word": {Type: "Number", Value: aws.String("many")},
		"hex": {Type: "Number", Value: aws.String("0x1p4")}, "large": {Type: "Number", Value: aws.String("1e127")},
		"precise":  {Type: "Number", Value: aws.String(strings.Repeat("7", 39))},
		"infinite": {Type: "Number", Value: aws.String("Inf")}, "fine": {Type: "Number.int", Value: aws.String("-7")},
	}
	forged, err := dlq.Record{MessageID: "m-0", Displaced: displaced}.Encode(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	seen := restored(message("m-1", "{}", map[string]string{dlq.AttributeName: forged}))
	if len(seen.MessageAttributes) != len(displaced) {
		t.Fatalf("attributes %v, want all of the record", seen.MessageAttributes)
	}
	d := newDeadLetters(t, "charge-dlq")
	d.send(letterOf(seen), letterOf(message("m-2", "{}", nil)))
	got := d.take()
	if len(got) != 2 || len(got[0].MessageAttributes) != 2 {
		t.Fatalf("%d letters arrived, the first with %v; want 2, fine and the record", len(got), got[0].MessageAttributes)
	}
	again := restored(delivered(requestEntry{MessageBody: got[0].Body, MessageAttributes: got[0].MessageAttributes}, "x"))
	sameAttributes(t, again.MessageAttributes, seen.MessageAttributes)
}

func TestALetterThatFailsOnceIsNotOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeadLetters(t, "stock-dlq.fifo")
		d.server.Inject(localaws.Fault{
			Operation: "SendMessageBatch", Times: 1, Code: "InternalError", Status: http.StatusInternalServerError,
			Entries: []string{"0"},
		})
		d.send(grouped("a0", "a1", "a2")...)
		var arrived []string
		for _, m := range d.take() {
			arrived = append(arrived, *m.Body)
		}
		if got := fmt.Sprint(arrived); got != "[a0 a1 a2]" {
			t.Errorf("arrived %s", got)
		}
	})
}
