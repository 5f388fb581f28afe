package conformance_test

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type messageAttrs = map[string]types.MessageAttributeValue

// sendNew sends a message to a queue of its own.
func (e *sqsEnv) sendNew(t T, body string, ma messageAttrs, a attrs) error {
	t.Helper()
	q := e.queue(t, a)
	_, err := e.c.SendMessage(
		t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: &body, MessageAttributes: ma},
	)
	return err
}

func manyAttrs(n int) messageAttrs {
	m := messageAttrs{}
	for i := range n {
		m["a"+strconv.Itoa(i)] = stringAttr("v")
	}
	return m
}

var sqsLimitChecks = []check[*sqsEnv]{
	{
		id:  "sqs/limits/ten-attributes",
		doc: "A message can have up to 10 message attributes.",
		run: func(t T, e *sqsEnv) { must(t, "SendMessage", e.sendNew(t, "x", manyAttrs(10), nil)) },
	},
	{
		id:  "sqs/limits/eleven-attributes-rejected",
		doc: "A message cannot have more than 10 message attributes.",
		run: func(t T, e *sqsEnv) { wantRejected(t, e.sendNew(t, "x", manyAttrs(11), nil)) },
	},
	{
		id:  "sqs/limits/empty-attribute-value-rejected",
		doc: "The value of a message attribute must not be empty.",
		run: func(t T, e *sqsEnv) { wantRejected(t, e.sendNew(t, "x", messageAttrs{"a": stringAttr("")}, nil)) },
	},
	{
		id:  "sqs/limits/unknown-attribute-type-rejected",
		doc: "The type of a message attribute is String, Number or Binary, with or without a custom label.",
		run: func(t T, e *sqsEnv) {
			wantRejected(
				t, e.sendNew(t, "x", messageAttrs{"a": {DataType: aws.String("Bogus"), StringValue: aws.String("v")}}, nil),
			)
		},
	},
	{
		id:  "sqs/limits/non-number-rejected",
		doc: "The value of a message attribute of type Number is validated as a number.",
		run: func(t T, e *sqsEnv) {
			wantRejected(
				t, e.sendNew(t, "x", messageAttrs{"a": {DataType: aws.String("Number"), StringValue: aws.String("abc")}}, nil),
			)
		},
	},
	{
		id:  "sqs/limits/reserved-attribute-name-rejected",
		doc: "The name of a message attribute must not start with AWS. or Amazon.",
		run: func(t T, e *sqsEnv) { wantRejected(t, e.sendNew(t, "x", messageAttrs{"AWS.x": stringAttr("v")}, nil)) },
	},
	{
		id:  "sqs/limits/body-300-kib",
		doc: "A message body of more than 256 KiB (the limit before it was raised to 1 MiB) is accepted.",
		run: func(t T, e *sqsEnv) { must(t, "SendMessage", e.sendNew(t, strings.Repeat("x", 300<<10), nil, nil)) },
	},
	{
		id:  "sqs/limits/body-1-mib",
		doc: "A message body can have 1,048,576 bytes (1 MiB).",
		run: func(t T, e *sqsEnv) { must(t, "SendMessage", e.sendNew(t, strings.Repeat("x", 1<<20), nil, nil)) },
	},
	{
		id:  "sqs/limits/body-over-1-mib-rejected",
		doc: "A message cannot have more than 1,048,576 bytes (1 MiB).",
		run: func(t T, e *sqsEnv) { wantRejected(t, e.sendNew(t, strings.Repeat("x", 1<<20+1), nil, nil)) },
	},
	{
		id:  "sqs/limits/body-plus-attributes-over-1-mib-rejected",
		doc: "Names, types and values of the message attributes count towards the size of a message.",
		run: func(t T, e *sqsEnv) {
			wantRejected(t, e.sendNew(t, strings.Repeat("x", 1<<20-10), messageAttrs{"attr": stringAttr("0123456789")}, nil))
		},
	},
	{
		id:  "sqs/limits/queue-maximum-message-size",
		doc: "A message longer than the MaximumMessageSize of the queue is rejected.",
		run: func(t T, e *sqsEnv) {
			wantRejected(t, e.sendNew(t, strings.Repeat("x", 1025), nil, attrs{"MaximumMessageSize": "1024"}))
		},
	},
	{
		id:  "sqs/limits/empty-body-rejected",
		doc: "A message body has at least one character.",
		run: func(t T, e *sqsEnv) { wantRejected(t, e.sendNew(t, "", nil, nil)) },
	},
	{
		id:  "sqs/limits/control-character-rejected",
		doc: "A message body with U+0001, which is outside the allowed set, fails with InvalidMessageContents.",
		run: func(t T, e *sqsEnv) { wantError[*types.InvalidMessageContents](t, e.sendNew(t, "a\x01b", nil, nil)) },
	},
	{
		id:  "sqs/limits/noncharacter-rejected",
		doc: "A message body with U+FFFF, which is outside the allowed set, fails with InvalidMessageContents.",
		run: func(t T, e *sqsEnv) { wantError[*types.InvalidMessageContents](t, e.sendNew(t, "a\uffffb", nil, nil)) },
	},
	{
		id: "sqs/limits/body-unchanged",
		doc: "A message body of allowed characters (tab, line feed, carriage return, supplementary planes, …) is " +
			"delivered as sent.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			const body = "a\n\t\r \"quoted\" \\ <b>&amp;</b> 😀 \u2028 é"
			e.send(t, q, body)
			equal(t, "body", aws.ToString(e.receiveOne(t, q, 30).Body), body)
		},
	},
}
