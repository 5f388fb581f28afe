package sqsafe

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// orders is a FIFO queue with a function that fails each job for good.
type orders struct {
	*testing.T
	server    *localaws.Server
	host      *Host
	processor *handler.Processor
	runs      int
}

const ordersURL = localtest.Endpoint + "/000000000000/"

func newOrders(t *testing.T) *orders {
	t.Helper()
	o := &orders{T: t, server: localaws.New(nil)}
	env := complete()
	env["SQSAFE_DLQ_URL"], env["SQSAFE_TABLE"] = ordersURL+"dead.fifo", "ledger"
	o.host = newHost(lookupIn(env), localtest.Config(o.server))
	for _, name := range []string{"orders.fifo", "dead.fifo"} {
		_, err := o.host.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{
			QueueName: &name, Attributes: map[string]string{"FifoQueue": "true"},
		})
		o.check(err)
	}
	_, err := o.host.dynamodb.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: dynamotypes.BillingModePayPerRequest,
		KeySchema: []dynamotypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: dynamotypes.KeyTypeHash}},
		AttributeDefinitions: []dynamotypes.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: dynamotypes.ScalarAttributeTypeS},
		},
	})
	o.check(err)
	decline := func(context.Context, job) error {
		o.runs++
		return fault.Permanent(errors.New("no"), fault.WithReason("declined"))
	}
	quiet := func(options *Options) { options.Logger = slog.New(slog.DiscardHandler) }
	o.processor, err = NewProcessorOn(o.host, decline, KeyField("id"), quiet)
	o.check(err)
	return o
}

func (o *orders) check(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *orders) send(attributes map[string]types.MessageAttributeValue) {
	o.Helper()
	_, err := o.host.sqs.SendMessage(o.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(ordersURL + "orders.fifo"), MessageBody: aws.String(`{"id":"o-1"}`),
		MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String(time.Now().Format(time.RFC3339Nano)),
		MessageAttributes: attributes,
	})
	o.check(err)
}

// take receives what is visible.
func (o *orders) take(queue string) []types.Message {
	o.Helper()
	out, err := o.host.sqs.ReceiveMessage(o.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(ordersURL + queue), MaxNumberOfMessages: 10, VisibilityTimeout: 60,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"},
	})
	o.check(err)
	return out.Messages
}

func (o *orders) remove(queue string, m types.Message) {
	o.Helper()
	_, err := o.host.sqs.DeleteMessage(o.Context(), &sqs.DeleteMessageInput{
		QueueUrl: aws.String(ordersURL + queue), ReceiptHandle: m.ReceiptHandle,
	})
	o.check(err)
}

// invoke hands the waiting message to the function, and deletes it if it may.
func (o *orders) invoke() (acknowledged bool) {
	o.Helper()
	ms := o.take("orders.fifo")
	if len(ms) != 1 {
		o.Fatalf("%d messages, want 1", len(ms))
	}
	received := map[string]events.SQSMessageAttribute{}
	for name, a := range ms[0].MessageAttributes {
		received[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue}
	}
	ctx, cancel := context.WithTimeout(o.Context(), 30*time.Second)
	defer cancel()
	response, err := o.processor.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: *ms[0].MessageId, ReceiptHandle: *ms[0].ReceiptHandle, Body: *ms[0].Body,
		EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:orders.fifo", Attributes: ms[0].Attributes,
		MessageAttributes: received,
	}}})
	o.check(err)
	if len(response.BatchItemFailures) > 0 {
		return false
	}
	o.remove("orders.fifo", ms[0])
	return true
}

// forget takes the job out of the ledger, as "sqsafe ledger forget" does.
func (o *orders) forget() {
	o.Helper()
	id := &dynamotypes.AttributeValueMemberS{Value: "orders.fifo#o-1"}
	_, err := o.host.dynamodb.DeleteItem(o.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("ledger"), Key: map[string]dynamotypes.AttributeValue{"id": id},
	})
	o.check(err)
}

// TestAJobThatIsForgottenAndDiesAgainHasTwoLetters within the five minutes in
// which SQS drops what has the same deduplication id.
func TestAJobThatIsForgottenAndDiesAgainHasTwoLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOrders(t)
		for death := 1; death <= 2; death++ {
			o.send(nil)
			if !o.invoke() {
				t.Fatalf("death %d: the message came back", death)
			}
			letters := o.take("dead.fifo")
			if len(letters) != 1 || o.runs != death {
				t.Fatalf("death %d: %d letters, %d runs", death, len(letters), o.runs)
			}
			o.remove("dead.fifo", letters[0])
			o.forget()
			<-time.After(time.Minute)
		}
	})
}

// TestALetterThatIsSentAgainIsOneLetter: SQS took it and the answer was lost, so
// that the next delivery sends it again, with the verdict that the ledger gives.
func TestALetterThatIsSentAgainIsOneLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(123_456_789) // a time that is not in whole milliseconds
		o := newOrders(t)
		o.server.Inject(localaws.Fault{
			Operation: "SendMessageBatch", Times: 1, Code: "AccessDenied", AfterEffect: true,
		})
		o.send(nil)
		if o.invoke() {
			t.Fatal("acknowledged without a confirmation")
		}
		<-time.After(2 * time.Minute)
		if !o.invoke() || o.runs != 1 {
			t.Fatalf("not acknowledged, or run again: %d runs", o.runs)
		}
		letters := o.take("dead.fifo")
		if len(letters) != 1 {
			t.Fatalf("%d letters, want 1", len(letters))
		}
	})
}

// TestAForgedEpochDoesNotEndAJob: were it believed, no later epoch would follow, and
// each replay would be acknowledged as a duplicate.
func TestAForgedEpochDoesNotEndAJob(t *testing.T) {
	t.Parallel()
	for _, epoch := range []string{"1000001", "9223372036854775806", "9223372036854775807", "-1"} {
		t.Run(epoch, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOrders(t)
				forged := `{"version":1,"messageId":"m","key":"o-1","verdict":true,"epoch":` + epoch + `}`
				attributes := map[string]types.MessageAttributeValue{
					dlq.AttributeName: {DataType: aws.String("String"), StringValue: &forged},
				}
				for run := 1; run <= 3; run++ {
					o.send(attributes)
					if !o.invoke() || o.runs != run {
						t.Fatalf("%d runs, want %d", o.runs, run)
					}
					letter := o.take("dead.fifo")[0]
					o.remove("dead.fifo", letter)
					attributes = letter.MessageAttributes // as a replay has them
					<-time.After(time.Minute)
				}
			})
		})
	}
}
