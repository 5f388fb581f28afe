package conformance_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// wantAnswer stops the check unless err is the service's refusal with the HTTP
// status, the code and a message that contains the text.
func wantAnswer(t T, err error, status int, code, text string) {
	t.Helper()
	wantRejected(t, err)
	var resp *smithyhttp.ResponseError
	if !errors.As(err, &resp) || resp.HTTPStatusCode() != status {
		t.Fatalf("want HTTP status %d, got %v", status, err)
	}
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), text) {
		t.Fatalf("want %s with %q, got %s", code, text, describe(err))
	}
}

func (e *sqsEnv) setAttributes(t T, url string, a attrs) error {
	_, err := e.c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: a})
	return err
}

func (e *sqsEnv) purge(t T, url string) error {
	_, err := e.c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
	return err
}

var sqsRecordedQueueChecks = []check[*sqsEnv]{
	{
		id:    "sqs/queue/booleans-in-capitals",
		doc:   "CreateQueue takes True and False for true and false, and GetQueueAttributes returns them in small letters.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			a := e.attributes(t, e.queueNamed(t, unique("q")+".fifo", attrs{
				"FifoQueue": "True", "ContentBasedDeduplication": "False",
			}), "All")
			equal(t, "attributes", a["FifoQueue"]+","+a["ContentBasedDeduplication"], "true,false")
		},
	},
	{
		id:    "sqs/queue/fifo-false-rejected",
		doc:   "A standard queue does not know the attribute FifoQueue, with the value false neither.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("q"), attrs{"FifoQueue": "false"})
			wantAnswer(t, err, 400, "InvalidAttributeName", "Unknown Attribute FifoQueue.")
			for _, v := range []string{"true", "false"} {
				err = e.setAttributes(t, e.queue(t, nil), attrs{"FifoQueue": v})
				wantAnswer(t, err, 400, "InvalidAttributeName", "Unknown Attribute FifoQueue.")
			}
		},
	},
	{
		id:    "sqs/queue/fifo-type-cannot-change",
		doc:   "SetQueueAttributes on a FIFO queue takes FifoQueue true, and refuses false as a change of the type.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			must(t, "SetQueueAttributes", e.setAttributes(t, q, attrs{"FifoQueue": "true"}))
			err := e.setAttributes(t, q, attrs{"FifoQueue": "false"})
			wantAnswer(t, err, 400, "InvalidAttributeValue", "Modifying queue type is not supported")
		},
	},
	{
		id:    "sqs/queue/throughput-attributes-of-standard-queue",
		doc:   "DeduplicationScope and FifoThroughputLimit are refused for a standard queue with a message of their own.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			for name, value := range (attrs{"DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"}) {
				_, err := e.create(t, unique("q"), attrs{name: value})
				wantAnswer(t, err, 400, "InvalidAttributeName", name+" only when FifoQueue is set to true")
			}
		},
	},
	{
		id:    "sqs/queue/one-encryption",
		doc:   "A queue cannot have a KMS key and encryption by SQS at one time.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			err := e.setAttributes(t, e.queue(t, nil), attrs{"KmsMasterKeyId": "key", "SqsManagedSseEnabled": "true"})
			wantAnswer(t, err, 400, "InvalidAttributeName", "one type of server-side encryption")
		},
	},
	{
		id:    "sqs/queue/key-reuse-period-goes-with-key",
		doc:   "KmsDataKeyReusePeriodSeconds is returned only while the queue has a KMS key.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			must(t, "SetQueueAttributes", e.setAttributes(t, q, attrs{
				"KmsMasterKeyId": "key", "KmsDataKeyReusePeriodSeconds": "6000",
			}))
			equal(t, "with a key", e.attributes(t, q, "All")["KmsDataKeyReusePeriodSeconds"], "6000")
			must(t, "SetQueueAttributes", e.setAttributes(t, q, attrs{
				"KmsMasterKeyId": "", "KmsDataKeyReusePeriodSeconds": "300",
			}))
			equal(t, "without", e.attributes(t, q, "All")["KmsDataKeyReusePeriodSeconds"], "")
		},
	},
	{
		id:    "sqs/queue/name-as-url",
		doc:   "The name of a queue can stand for its URL.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, queueName(q), "x")
			equal(t, "received", aws.ToString(e.receiveOne(t, queueName(q), 30).Body), "x")
		},
	},
	{
		id:    "sqs/queue/url-of-another-form",
		doc:   "A URL that is not that of a queue does not exist, rather than being malformed.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			_, err := e.c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: aws.String("http://nowhere")})
			wantAnswer(t, err, 400, "AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.")
		},
	},
	{
		id:    "sqs/admin/purge-twice-status",
		doc:   "The second PurgeQueue within 60 seconds has the HTTP status 403.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			must(t, "PurgeQueue", e.purge(t, q))
			wantAnswer(t, e.purge(t, q), 403, "AWS.SimpleQueueService.PurgeQueueInProgress", queueName(q))
		},
	},
	{
		id:    "sqs/admin/purge-forgets-deduplication",
		doc:   "After PurgeQueue a message with a deduplication id of before is no duplicate.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			e.sendGroup(t, q, "first", "g", "same")
			must(t, "PurgeQueue", e.purge(t, q))
			e.wantCounts(t, q, "0/0/0", 0)
			e.sendGroup(t, q, "second", "g", "same")
			equal(t, "received", aws.ToString(e.receiveOne(t, q, 30).Body), "second")
		},
	},
	{
		id:    "sqs/admin/untag-without-keys",
		doc:   "UntagQueue with an empty list of keys is refused for the length of a key.",
		basis: said,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.UntagQueue(t.Context(), &sqs.UntagQueueInput{QueueUrl: &q, TagKeys: []string{}})
			wantAnswer(t, err, 400, "InvalidParameterValue", "between 1 and 128 characters")
		},
	},
	{
		id:    "sqs/admin/too-many-tags",
		doc:   "A queue with more than 50 tags is refused, and keeps those that it has.",
		basis: said,
		run: func(t T, e *sqsEnv) {
			q, tags := e.queue(t, nil), map[string]string{}
			for i := range 51 {
				tags[fmt.Sprint("k", i)] = "v"
			}
			_, err := e.c.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: &q, Tags: tags})
			wantAnswer(t, err, 400, "InvalidParameterValue", "Too many tags added for queue "+queueName(q))
			out, err := e.c.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: &q})
			must(t, "ListQueueTags", err)
			equal(t, "tags", len(out.Tags), 0)
		},
	},
	{
		id:    "sqs/errors/missing-parameter",
		doc:   "A request without a required parameter fails with MissingParameter, which names it.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("")})
			wantAnswer(t, err, 400, "MissingParameter", "The request must contain the parameter MessageBody.")
		},
	},
	{
		id:    "sqs/redrive/empty-policy",
		doc:   "An empty RedrivePolicy removes the policy, and is taken by a queue that has none.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			for _, q := range []string{src, dlq} {
				must(t, "SetQueueAttributes", e.setAttributes(t, q, attrs{"RedrivePolicy": ""}))
				equal(t, "policy", e.attributes(t, q, "All")["RedrivePolicy"], "")
			}
		},
	},
	{
		id:    "sqs/delivery/returned-before-sent-later",
		doc:   "A message that becomes visible again comes before one that was sent while it was in flight.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "first")
			e.receiveOne(t, q, 2)
			wait(t, time.Second)
			e.send(t, q, "second")
			wait(t, time.Second+*slack/2)
			equal(t, "received", aws.ToString(e.receiveOne(t, q, 30).Body), "first")
		},
	},
}
