package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// sqsEnv has the client and the steps that several checks share. Its methods
// stop the check when a step fails.
type sqsEnv struct {
	c *sqs.Client
}

// sqsChecks are all checks of SQS.
func sqsChecks() []check[*sqsEnv] {
	return slices.Concat(
		sqsQueueChecks, sqsDeliveryChecks, sqsBatchChecks, sqsVisibilityChecks, sqsAttributeChecks, sqsLimitChecks,
		sqsLongPollChecks, sqsRedriveChecks, sqsFIFOChecks, sqsAdminChecks, sqsErrorChecks,
		sqsRecordedQueueChecks, sqsRecordedMessageChecks, sqsRecordedFIFOChecks, sqsRecordedMoveChecks,
		sqsPermissionChecks,
	)
}

type attrs = map[string]string

var fifoAttrs = attrs{"FifoQueue": "true", "ContentBasedDeduplication": "true"}

// create creates a queue, which is deleted after the check.
func (e *sqsEnv) create(t T, name string, a attrs) (url string, err error) {
	out, err := e.c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: a})
	if err != nil {
		return "", err
	}
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		_, _ = e.c.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl})
	})
	return aws.ToString(out.QueueUrl), nil
}

// queue creates a queue with a name of its own.
func (e *sqsEnv) queue(t T, a attrs) (url string) {
	t.Helper()
	name := unique("q")
	if a["FifoQueue"] == "true" {
		name += ".fifo"
	}
	return e.queueNamed(t, name, a)
}

func (e *sqsEnv) queueNamed(t T, name string, a attrs) (url string) {
	t.Helper()
	url, err := e.create(t, name, a)
	must(t, "CreateQueue", err)
	return url
}

func (e *sqsEnv) attributes(t T, url string, names ...types.QueueAttributeName) attrs {
	t.Helper()
	out, err := e.c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
	must(t, "GetQueueAttributes", err)
	return out.Attributes
}

func (e *sqsEnv) arn(t T, url string) string {
	t.Helper()
	return e.attributes(t, url, types.QueueAttributeNameQueueArn)["QueueArn"]
}

// counts gives the numbers of visible, invisible and delayed messages.
func (e *sqsEnv) counts(t T, url string) string {
	t.Helper()
	a := e.attributes(
		t, url, types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	)
	return a["ApproximateNumberOfMessages"] + "/" + a["ApproximateNumberOfMessagesNotVisible"] + "/" +
		a["ApproximateNumberOfMessagesDelayed"]
}

// wantCounts waits for the numbers of visible, invisible and delayed messages
// to become want.
func (e *sqsEnv) wantCounts(t T, url, want string, within time.Duration) {
	t.Helper()
	eventually(t, within, func() error {
		if got := e.counts(t, url); got != want {
			return fmt.Errorf("visible/invisible/delayed: got %s, want %s", got, want)
		}
		return nil
	})
	t.Logf("visible/invisible/delayed: %s", want)
}

func (e *sqsEnv) send(t T, url, body string) *sqs.SendMessageOutput {
	t.Helper()
	return e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
}

// sendGroup sends with a group id and, unless it is empty, a deduplication id.
func (e *sqsEnv) sendGroup(t T, url, body, group, dedup string) *sqs.SendMessageOutput {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group}
	if dedup != "" {
		in.MessageDeduplicationId = &dedup
	}
	return e.sendInput(t, in)
}

func (e *sqsEnv) sendInput(t T, in *sqs.SendMessageInput) *sqs.SendMessageOutput {
	t.Helper()
	out, err := e.c.SendMessage(t.Context(), in)
	must(t, "SendMessage", err)
	return out
}

// rcv is a ReceiveMessage request; what is zero is not sent.
type rcv struct {
	max  int // MaxNumberOfMessages
	vis  int // VisibilityTimeout
	wait int // WaitTimeSeconds
}

// receive makes one ReceiveMessage request for all attributes.
func (e *sqsEnv) receive(t T, url string, r rcv) []types.Message {
	t.Helper()
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: int32(r.max), VisibilityTimeout: int32(r.vis), WaitTimeSeconds: int32(r.wait),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	if *legacyAttributes {
		in.AttributeNames = []types.QueueAttributeName{types.QueueAttributeNameAll}
	}
	out, err := e.c.ReceiveMessage(t.Context(), in)
	must(t, "ReceiveMessage", err)
	return out.Messages
}

// receiveSome repeats the request until it gets messages, at most for the time
// within plus the slack. Repeating is what the documentation tells a short
// poll to do that gets nothing.
func (e *sqsEnv) receiveSome(t T, url string, r rcv, within time.Duration) []types.Message {
	t.Helper()
	var ms []types.Message
	eventually(t, within, func() error {
		if ms = e.receive(t, url, r); len(ms) == 0 {
			return fmt.Errorf("no message received within %s", within+*slack)
		}
		return nil
	})
	return ms
}

// receiveOne is receiveSome for a message that is to be there now.
func (e *sqsEnv) receiveOne(t T, url string, vis int) types.Message {
	t.Helper()
	return e.receiveSome(t, url, rcv{max: 1, vis: vis}, 0)[0]
}

// wantNone stops the check when the queue gives a message.
func (e *sqsEnv) wantNone(t T, url, when string) {
	t.Helper()
	if ms := e.receive(t, url, rcv{max: 10, vis: 1}); len(ms) != 0 {
		t.Fatalf("received %q %s", bodies(ms), when)
	}
}

func (e *sqsEnv) delete(t T, url string, m types.Message) {
	t.Helper()
	_, err := e.c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
	must(t, "DeleteMessage", err)
}

func (e *sqsEnv) changeVisibility(t T, url string, m types.Message, seconds int32) error {
	_, err := e.c.ChangeMessageVisibility(
		t.Context(),
		&sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds},
	)
	return err
}

func bodies(ms []types.Message) string {
	var b []string
	for _, m := range ms {
		b = append(b, aws.ToString(m.Body))
	}
	return strings.Join(b, ",")
}

// sendEntries makes n entries with the ids e0, e1, … and the bodies b0, b1, and so on.
func sendEntries(n int) []types.SendMessageBatchRequestEntry {
	es := make([]types.SendMessageBatchRequestEntry, n)
	for i := range es {
		es[i].Id, es[i].MessageBody = aws.String("e"+strconv.Itoa(i)), aws.String("b"+strconv.Itoa(i))
	}
	return es
}

func stringAttr(v string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &v}
}
