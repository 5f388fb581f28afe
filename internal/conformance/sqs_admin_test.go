package conformance_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func queueName(url string) string { return url[strings.LastIndex(url, "/")+1:] }

var sqsAdminChecks = []check[*sqsEnv]{
	{
		id:  "sqs/admin/get-queue-url",
		doc: "GetQueueUrl returns the URL that CreateQueue returned.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			out, err := e.c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(queueName(q))})
			must(t, "GetQueueUrl", err)
			equal(t, "URL", aws.ToString(out.QueueUrl), q)
		},
	},
	{
		id: "sqs/admin/list-queues",
		doc: "ListQueues lists the queues whose name begins with a prefix, at most MaxResults a page, with a " +
			"NextToken for the next page.",
		run: func(t T, e *sqsEnv) {
			prefix := unique("list")
			for i := range 5 {
				_, err := e.create(t, prefix+"-"+strconv.Itoa(i), nil)
				must(t, "CreateQueue", err)
			}
			eventually(t, 0, func() error {
				out, err := e.c.ListQueues(t.Context(), &sqs.ListQueuesInput{QueueNamePrefix: &prefix})
				must(t, "ListQueues", err)
				if len(out.QueueUrls) != 5 {
					return fmt.Errorf("listed %d of 5 queues", len(out.QueueUrls))
				}
				return nil
			})
			pages, urls := 0, map[string]bool{}
			in := &sqs.ListQueuesInput{QueueNamePrefix: &prefix, MaxResults: aws.Int32(2)}
			for pg := sqs.NewListQueuesPaginator(e.c, in); pg.HasMorePages(); pages++ {
				out, err := pg.NextPage(t.Context())
				must(t, "ListQueues", err)
				if len(out.QueueUrls) > 2 {
					t.Fatalf("page of %d with MaxResults 2", len(out.QueueUrls))
				}
				for _, u := range out.QueueUrls {
					urls[u] = true
				}
			}
			equal(t, "queues", len(urls), 5)
			t.Logf("%d pages", pages)
		},
	},
	{
		id:  "sqs/admin/purge",
		doc: "PurgeQueue deletes all messages, those in flight too (on the real service within 60 seconds).",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			for range 3 {
				e.send(t, q, "x")
			}
			e.receiveOne(t, q, 60)
			_, err := e.c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &q})
			must(t, "PurgeQueue", err)
			e.wantCounts(t, q, "0/0/0", 0)
		},
	},
	{
		id:  "sqs/admin/purge-twice-rejected",
		doc: "PurgeQueue fails with PurgeQueueInProgress within 60 seconds of another.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &q})
			must(t, "PurgeQueue", err)
			_, err = e.c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &q})
			wantError[*types.PurgeQueueInProgress](t, err)
		},
	},
	{
		id:  "sqs/admin/tags",
		doc: "ListQueueTags returns the tags that TagQueue added.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: &q, Tags: map[string]string{"k": "v"}})
			must(t, "TagQueue", err)
			out, err := e.c.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: &q})
			must(t, "ListQueueTags", err)
			equal(t, "tag", out.Tags["k"], "v")
		},
	},
}

// missing is the URL of a queue that does not exist, beside one that does.
func (e *sqsEnv) missing(t T) *string {
	t.Helper()
	q := e.queue(t, nil)
	return aws.String(strings.TrimSuffix(q, queueName(q)) + unique("none"))
}

func noQueue(action string) string {
	return action + " fails with QueueDoesNotExist when the queue does not exist."
}

var sqsErrorChecks = []check[*sqsEnv]{
	{
		id:  "sqs/errors/no-queue-send",
		doc: noQueue("SendMessage"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: e.missing(t), MessageBody: aws.String("x")})
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/no-queue-send-batch",
		doc: noQueue("SendMessageBatch"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.SendMessageBatch(
				t.Context(), &sqs.SendMessageBatchInput{QueueUrl: e.missing(t), Entries: sendEntries(1)},
			)
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/no-queue-receive",
		doc: noQueue("ReceiveMessage"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: e.missing(t)})
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/no-queue-delete-batch",
		doc: noQueue("DeleteMessageBatch"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.DeleteMessageBatch(
				t.Context(),
				&sqs.DeleteMessageBatchInput{
					QueueUrl: e.missing(t),
					Entries:  []types.DeleteMessageBatchRequestEntry{{Id: aws.String("a"), ReceiptHandle: aws.String("b")}},
				},
			)
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/no-queue-get-url",
		doc: noQueue("GetQueueUrl"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(unique("none"))})
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/no-queue-get-attributes",
		doc: noQueue("GetQueueAttributes"),
		run: func(t T, e *sqsEnv) {
			_, err := e.c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: e.missing(t)})
			wantError[*types.QueueDoesNotExist](t, err)
		},
	},
	{
		id:  "sqs/errors/deleted-queue-send",
		doc: "SendMessage fails with QueueDoesNotExist after DeleteQueue (on the real service within 60 seconds).",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &q})
			must(t, "DeleteQueue", err)
			eventually(t, 0, func() error {
				_, err = e.c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x")})
				if !isError[*types.QueueDoesNotExist](err) {
					return fmt.Errorf("want QueueDoesNotExist, got %s", describe(err))
				}
				return nil
			})
		},
	},
}
