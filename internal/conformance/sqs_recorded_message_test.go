package conformance_test

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// twice receives the message of a standard queue twice, the second time while
// the visibility timeout of the first is over.
func (e *sqsEnv) twice(t T, q string) (older, newer types.Message) {
	t.Helper()
	e.send(t, q, "x")
	older = e.receiveOne(t, q, 1)
	newer = e.receiveSome(t, q, rcv{max: 1, vis: 60}, time.Second)[0]
	return older, newer
}

var sqsRecordedMessageChecks = []check[*sqsEnv]{
	{
		id:    "sqs/delivery/delete-with-older-handle",
		doc:   "In a standard queue DeleteMessage with the handle of an earlier receive deletes the message.",
		basis: said,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			older, newer := e.twice(t, q)
			e.delete(t, q, older)
			e.wantCounts(t, q, "0/0/0", 0)
			e.delete(t, q, newer)
		},
	},
	{
		id: "sqs/visibility/change-with-older-handle",
		doc: "In a standard queue ChangeMessageVisibility with the handle of an earlier receive changes the timeout of " +
			"the message.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			older, _ := e.twice(t, q)
			must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, older, 0))
			e.receiveOne(t, q, 30)
		},
	},
	{
		id:    "sqs/visibility/change-of-deleted-message",
		doc:   "ChangeMessageVisibility of a deleted message is refused with the message that it does not exist.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 30)
			e.delete(t, q, m)
			wantAnswer(t, e.changeVisibility(t, q, m, 1), 400, "InvalidParameterValue", "Message does not exist or is not "+
				"available for visibility timeout change.")
		},
	},
	{
		id:    "sqs/attributes/all-by-asterisk",
		doc:   "MessageAttributeNames of * or .* selects all message attributes, as All does.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"VisibilityTimeout": "0"})
			e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageAttributes: messageAttrs{
				"one": stringAttr("1"), "two.x": stringAttr("2"),
			}})
			for _, name := range []string{"*", ".*", "All"} {
				m := e.receiveWith(t, &sqs.ReceiveMessageInput{QueueUrl: &q, MessageAttributeNames: []string{name}})
				equal(t, "attributes for "+name, len(m.MessageAttributes), 2)
			}
		},
	},
	{
		id:    "sqs/attributes/trace-header-of-request",
		doc:   "The HTTP header X-Amzn-Trace-Id of SendMessage becomes the system attribute AWSTraceHeader.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			const trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"
			q := e.queue(t, nil)
			_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x")},
				sqs.WithAPIOptions(smithyhttp.SetHeaderValue("X-Amzn-Trace-Id", trace)))
			must(t, "SendMessage", err)
			equal(t, "AWSTraceHeader", e.receiveOne(t, q, 30).Attributes["AWSTraceHeader"], trace)
		},
	},
	{
		id:    "sqs/limits/empty-attribute-value-message",
		doc:   "An empty value of a message attribute is refused with a message that names attribute and type.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			err := e.sendNew(t, "x", messageAttrs{"a": stringAttr("")}, nil)
			wantAnswer(t, err, 400, "InvalidParameterValue",
				"Message (user) attribute 'a' must contain a non-empty value of type 'String'.")
		},
	},
	{
		id:    "sqs/batch/send-too-large-entry",
		doc:   "An entry over the queue's MaximumMessageSize fails; the others are sent.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			es := sendEntries(2)
			es[1].MessageBody = aws.String(strings.Repeat("x", 1025))
			out, err := e.sendBatch(t, e.queue(t, attrs{"MaximumMessageSize": "1024"}), es)
			must(t, "SendMessageBatch", err)
			if len(out.Successful) != 1 || len(out.Failed) != 1 {
				t.Fatalf("%d entries succeeded and %d failed", len(out.Successful), len(out.Failed))
			}
			f := out.Failed[0]
			equal(t, "failure", aws.ToString(f.Id)+" "+aws.ToString(f.Code), "e1 InvalidParameterValue")
			equal(t, "message", aws.ToString(f.Message),
				"One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.")
		},
	},
	{
		id:    "sqs/limits/empty-group-id-rejected",
		doc:   "SendMessage to a standard queue refuses a MessageGroupId that is empty, too long or has a space.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			for _, group := range []string{"", strings.Repeat("a", 129), "a b"} {
				_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{
					QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: &group,
				})
				wantAnswer(t, err, 400, "InvalidParameterValue",
					"Value "+group+" for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include")
			}
		},
	},
}
