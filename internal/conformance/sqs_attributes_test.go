package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// receiveWith makes requests that ask for just the attributes that in names,
// until one gives a message.
func (e *sqsEnv) receiveWith(t T, in *sqs.ReceiveMessageInput) types.Message {
	t.Helper()
	var m types.Message
	in.WaitTimeSeconds = 1
	eventually(t, 0, func() error {
		out, err := e.c.ReceiveMessage(t.Context(), in)
		if err != nil {
			return err
		}
		if len(out.Messages) == 0 {
			return fmt.Errorf("no message received")
		}
		m = out.Messages[0]
		return nil
	})
	return m
}

var sqsAttributeChecks = []check[*sqsEnv]{
	{
		id: "sqs/attributes/timestamps-and-sender",
		doc: "ReceiveMessage returns SentTimestamp and ApproximateFirstReceiveTimestamp in milliseconds, the same at " +
			"each receive, and SenderId.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			now := time.Now().UnixMilli()
			e.send(t, q, "x")
			a := e.receiveOne(t, q, 1).Attributes
			b := e.receiveSome(t, q, rcv{max: 1, vis: 30}, time.Second)[0].Attributes
			sent, _ := strconv.ParseInt(a["SentTimestamp"], 10, 64)
			first, _ := strconv.ParseInt(a["ApproximateFirstReceiveTimestamp"], 10, 64)
			if sent < now-1000 || sent > now+3000 || first < sent || first > now+3000+slack.Milliseconds() {
				t.Fatalf(
					"sent at %d: SentTimestamp %q, ApproximateFirstReceiveTimestamp %q", now, a["SentTimestamp"],
					a["ApproximateFirstReceiveTimestamp"],
				)
			}
			equal(
				t, "same at the second receive", b["SentTimestamp"]+" "+b["ApproximateFirstReceiveTimestamp"],
				a["SentTimestamp"]+" "+a["ApproximateFirstReceiveTimestamp"],
			)
			if a["SenderId"] == "" {
				t.Fatalf("no SenderId")
			}
		},
	},
	{
		id: "sqs/attributes/none-requested",
		doc: "ReceiveMessage returns the system attributes and message attributes that are asked for, so none when " +
			"none are.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.sendInput(
				t,
				&sqs.SendMessageInput{
					QueueUrl:          &q,
					MessageBody:       aws.String("x"),
					MessageAttributes: map[string]types.MessageAttributeValue{"a": stringAttr("v")},
				},
			)
			m := e.receiveWith(t, &sqs.ReceiveMessageInput{QueueUrl: &q})
			equal(t, "system/message attributes", fmt.Sprint(len(m.Attributes), "/", len(m.MessageAttributes)), "0/0")
		},
	},
	{
		id: "sqs/attributes/round-trip",
		doc: "Message attributes of the types String, Number and Binary, with custom labels too, are delivered as " +
			"sent, and SendMessage returns their MD5 digest.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			in := map[string]types.MessageAttributeValue{
				"str":    stringAttr("héllo\n"),
				"digits": stringAttr("007"),
				// Without zeros at its ends, which the service may remove.
				"num":    {DataType: aws.String("Number"), StringValue: aws.String("-12.5")},
				"bin":    {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 255, 254, 128}},
				"custom": {DataType: aws.String("String.my-type"), StringValue: aws.String("c")},
			}
			out := e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageAttributes: in})
			m := e.receiveOne(t, q, 30)
			for k, v := range in {
				g := m.MessageAttributes[k]
				if aws.ToString(g.DataType) != aws.ToString(v.DataType) ||
					aws.ToString(g.StringValue) != aws.ToString(v.StringValue) ||
					!slices.Equal(g.BinaryValue, v.BinaryValue) {
					t.Fatalf(
						"%s: got type %q, string %q, binary %v", k, aws.ToString(g.DataType), aws.ToString(g.StringValue),
						g.BinaryValue,
					)
				}
			}
			equal(t, "MD5OfMessageAttributes set", aws.ToString(out.MD5OfMessageAttributes) != "", true)
		},
	},
	{
		id:  "sqs/attributes/name-filter",
		doc: "ReceiveMessage: MessageAttributeNames selects by name and by prefix (bar.*).",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			v := stringAttr("v")
			e.sendInput(
				t,
				&sqs.SendMessageInput{
					QueueUrl:          &q,
					MessageBody:       aws.String("x"),
					MessageAttributes: map[string]types.MessageAttributeValue{"a": v, "p.1": v, "p.2": v, "z": v},
				},
			)
			m := e.receiveWith(t, &sqs.ReceiveMessageInput{QueueUrl: &q, MessageAttributeNames: []string{"a", "p.*"}})
			var names []string
			for n := range m.MessageAttributes {
				names = append(names, n)
			}
			slices.Sort(names)
			equal(t, "attributes", fmt.Sprint(names), "[a p.1 p.2]")
		},
	},
	{
		id:  "sqs/attributes/system-name-filter",
		doc: "ReceiveMessage: MessageSystemAttributeNames selects the system attributes.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			in := &sqs.ReceiveMessageInput{
				QueueUrl: &q,
				MessageSystemAttributeNames: []types.MessageSystemAttributeName{
					types.MessageSystemAttributeNameApproximateReceiveCount,
				},
			}
			if *legacyAttributes {
				in.AttributeNames = []types.QueueAttributeName{"ApproximateReceiveCount"}
			}
			equal(t, "system attributes", fmt.Sprint(e.receiveWith(t, in).Attributes), "map[ApproximateReceiveCount:1]")
		},
	},
	{
		id:  "sqs/attributes/trace-header",
		doc: "The message system attribute AWSTraceHeader is delivered as sent.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
			e.sendInput(
				t,
				&sqs.SendMessageInput{
					QueueUrl:    &q,
					MessageBody: aws.String("x"),
					MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
						"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String(header)}},
				},
			)
			equal(t, "AWSTraceHeader", e.receiveOne(t, q, 30).Attributes["AWSTraceHeader"], header)
		},
	},
}
