package sqsafe

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/tally"
)

// world is a stack behind one address, and the environment for it.
type world struct {
	server *localaws.Server
	queues *sqs.Client
	url    string
	env    map[string]string
	calls  tally.Tally
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{server: localaws.New(nil), env: complete()}
	web := httptest.NewUnstartedServer(w.calls.Handler(w.server))
	web.Listener = w.calls.Listener(web.Listener)
	web.Start()
	t.Cleanup(web.Close)
	config := localtest.Config(w.server)
	w.queues = sqs.NewFromConfig(config)
	for _, name := range []string{"jobs", "dead"} {
		if _, err := w.queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := dynamodb.NewFromConfig(config).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.url = web.URL + "/000000000000/"
	maps.Copy(w.env, map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "SQSAFE_DLQ_URL": w.url + "dead",
		namespaceVariable: metricsOff,
	})
	return w
}

// receive gives what is visible in a queue now, as Lambda hands it over.
func (w *world) receive(t *testing.T, queue string) events.SQSEvent {
	t.Helper()
	out, err := w.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(w.url + queue), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
	})
	if err != nil {
		t.Fatal(err)
	}
	event := events.SQSEvent{Records: []events.SQSMessage{}}
	for _, m := range out.Messages {
		record := events.SQSMessage{
			MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body,
			EventSourceARN:    "arn:aws:sqs:us-east-1:000000000000:" + queue,
			MessageAttributes: map[string]events.SQSMessageAttribute{},
		}
		for name, a := range m.MessageAttributes {
			record.MessageAttributes[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue}
		}
		event.Records = append(event.Records, record)
	}
	return event
}

type job struct {
	ID string `json:"id"`
}

func TestStartWiresTheWholePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ran := map[string]int{}
	fn := func(ctx context.Context, j job) error {
		ran[j.ID]++
		if idem.Key(ctx) != j.ID {
			t.Errorf("key %q, want %q", idem.Key(ctx), j.ID)
		}
		switch j.ID {
		case "bad":
			return fault.Permanent(errors.New("no"), fault.WithReason("declined"))
		case "busy":
			return fault.Retryable(errors.New("later"))
		}
		return nil
	}
	quiet := func(o *Options) { o.Logger = slog.New(slog.DiscardHandler) }
	p, _, err := newLambdaProcessor(lookupIn(w.env), fn, []Option{KeyField("id"), quiet})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"id":"good"}`, `{"id":"bad"}`, `{"id":"busy"}`, `{"id":"good"}`} {
		_, err := w.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(w.url + "jobs"), MessageBody: &body,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	response, err := p.Handle(t.Context(), w.receive(t, "jobs"))
	if err != nil || len(response.BatchItemFailures) != 1 {
		t.Fatalf("response %v, %v, want the busy one only", response, err)
	}
	if ran["good"] != 1 || ran["bad"] != 1 || ran["busy"] != 1 {
		t.Errorf("runs %v, want one each", ran)
	}
	dead := w.receive(t, "dead")
	if len(dead.Records) != 1 || dead.Records[0].Body != `{"id":"bad"}` {
		t.Fatalf("dead letters %v, want the bad one", dead.Records)
	}
	record := *dead.Records[0].MessageAttributes["sqsafe"].StringValue
	if !strings.Contains(record, `"reason":"declined"`) {
		t.Errorf("record %s, want the reason declined", record)
	}
}

func TestStartTakesPayloadsOutOfTheirEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ran []string
	fn := func(ctx context.Context, j job) error {
		ran = append(ran, idem.Key(ctx)+" for "+j.ID)
		return nil
	}
	unwrap := func(o *Options) { o.Envelope, o.Logger = envelope.EventBridge, slog.New(slog.DiscardHandler) }
	p, _, err := newLambdaProcessor(lookupIn(w.env), fn, []Option{KeyField("id"), unwrap})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"version":"0","id":"e-1","detail-type":"Paid","source":"shop","account":"1","time":"2026-01-02T03:04:05Z",` +
		`"region":"eu-west-1","resources":[],"detail":{"id":"o-1"}}`
	_, err = w.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(w.url + "jobs"), MessageBody: &body,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Handle(t.Context(), w.receive(t, "jobs")); err != nil {
		t.Fatal(err)
	}
	if len(ran) != 1 || ran[0] != "o-1 for o-1" {
		t.Errorf("ran %q, want the detail, under its own id", ran)
	}
}

func TestStartDecodesWithAnotherFunction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refuse := func(o *Options) {
		o.DecodeWith = func([]byte, any) error { return errors.New("not now") }
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p, _, err := newLambdaProcessor(lookupIn(w.env), nothing, []Option{KeyField("id"), refuse})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Handle(t.Context(), w.batch(1, "new", 0)); err != nil {
		t.Fatal(err)
	}
	if dead := w.receive(t, "dead"); len(dead.Records) != 1 {
		t.Errorf("%d dead letters, want the job that could not be decoded", len(dead.Records))
	}
}

func TestAJobWithoutAKeyIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logged := func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	_, _, err := newLambdaProcessor(lookupIn(complete()), nothing, []Option{logged})
	if err != nil || strings.Count(log.String(), "no idempotency key") != 1 {
		t.Errorf("error %v, log:\n%s", err, &log)
	}
}

func TestNewProcessorNamesWhatIsMissing(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("SQSAFE_TABLE", "")
	_, err := NewProcessor(func(context.Context, job) error { return nil })
	if missing, ok := errors.AsType[*MissingError](err); !ok || missing.Name != "SQSAFE_TABLE" {
		t.Errorf("error %v, want one that names SQSAFE_TABLE", err)
	}
}

// Metrics are written beside the hook of one's own.
func TestMetricsAreWrittenBesideTheHook(t *testing.T) {
	t.Parallel()
	var line strings.Builder
	reports := 0
	var o Options
	o.Hooks.OnBatch = func(context.Context, handler.Report) { reports++ }
	env := complete()
	env[namespaceVariable] = "shop"
	newHost(lookupIn(env), aws.Config{}).metricLines(&line)(&o)
	o.Hooks.OnBatch(t.Context(), handler.Report{Messages: 1})
	if reports != 1 || !strings.Contains(line.String(), `"Namespace":"shop"`) {
		t.Errorf("own hook called %d times, line %s", reports, &line)
	}
}
