package conformance_test

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var sqsQueueChecks = []check[*sqsEnv]{
	{
		id:  "sqs/queue/create-with-attributes",
		doc: "CreateQueue sets the attributes that it is given, and GetQueueAttributes returns them.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(
				t,
				attrs{
					"VisibilityTimeout":             "7",
					"MessageRetentionPeriod":        "86400",
					"ReceiveMessageWaitTimeSeconds": "3",
					"MaximumMessageSize":            "2048",
				},
			)
			a := e.attributes(t, q, types.QueueAttributeNameAll)
			equal(
				t, "attributes",
				a["VisibilityTimeout"]+","+a["MessageRetentionPeriod"]+","+
					a["ReceiveMessageWaitTimeSeconds"]+","+a["MaximumMessageSize"],
				"7,86400,3,2048",
			)
		},
	},
	{
		id:  "sqs/queue/default-maximum-message-size",
		doc: "CreateQueue: MaximumMessageSize is 1,048,576 bytes (1 MiB) by default.",
		run: func(t T, e *sqsEnv) {
			equal(
				t, "MaximumMessageSize", e.attributes(t, e.queue(t, nil), types.QueueAttributeNameAll)["MaximumMessageSize"],
				"1048576",
			)
		},
	},
	{
		id:  "sqs/queue/visibility-timeout-over-12h-rejected",
		doc: "CreateQueue: VisibilityTimeout is an integer from 0 to 43,200 seconds.",
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("q"), attrs{"VisibilityTimeout": "43201"})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/queue/unknown-attribute-rejected",
		doc: "CreateQueue fails with InvalidAttributeName when an attribute does not exist.",
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("q"), attrs{"NoSuchAttribute": "1"})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/queue/create-again-same-attributes",
		doc: "CreateQueue with the name of an existing queue and the same attributes returns that queue's URL.",
		run: func(t T, e *sqsEnv) {
			name, a := unique("q"), attrs{"VisibilityTimeout": "9"}
			first, err := e.create(t, name, a)
			must(t, "CreateQueue", err)
			second, err := e.create(t, name, a)
			must(t, "CreateQueue again", err)
			equal(t, "URL", second, first)
		},
	},
	{
		id:  "sqs/queue/create-again-other-attributes",
		doc: "CreateQueue with the name of an existing queue and other attribute values fails with QueueNameExists.",
		run: func(t T, e *sqsEnv) {
			name := unique("q")
			_, err := e.create(t, name, attrs{"VisibilityTimeout": "9"})
			must(t, "CreateQueue", err)
			_, err = e.create(t, name, attrs{"VisibilityTimeout": "10"})
			wantError[*types.QueueNameExists](t, err)
		},
	},
	{
		id:  "sqs/queue/set-visibility-timeout",
		doc: "SetQueueAttributes changes the VisibilityTimeout of a queue (on the real service within 60 seconds).",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.SetQueueAttributes(
				t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &q, Attributes: attrs{"VisibilityTimeout": "1"}},
			)
			must(t, "SetQueueAttributes", err)
			e.send(t, q, "x")
			e.receiveOne(t, q, 0)
			e.receiveSome(t, q, rcv{max: 1}, time.Second)
		},
	},
	{
		id:  "sqs/queue/retention-below-60s-rejected",
		doc: "CreateQueue: MessageRetentionPeriod is an integer from 60 to 1,209,600 seconds.",
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("q"), attrs{"MessageRetentionPeriod": "59"})
			wantRejected(t, err)
		},
	},
}
