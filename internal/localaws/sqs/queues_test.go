package sqs_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

func TestCreateQueue(t *testing.T) {
	t.Parallel()
	const badValue, badName = "InvalidAttributeValue", "InvalidAttributeName"
	for name, tt := range map[string]struct {
		queue      string
		attributes attrs
		code       string
	}{
		"plain":                {"q", nil, ""},
		"longest name":         {strings.Repeat("q", 80), nil, ""},
		"name too long":        {strings.Repeat("q", 81), nil, "InvalidParameterValue"},
		"name with a dot":      {"q.x", nil, "InvalidParameterValue"},
		"FIFO name alone":      {"q.fifo", nil, "InvalidParameterValue"},
		"FIFO without suffix":  {"q", attrs{"FifoQueue": "true"}, "InvalidParameterValue"},
		"FIFO":                 {"q.fifo", fifoAttrs, ""},
		"not FIFO":             {"q", attrs{"FifoQueue": "false"}, badName},
		"unknown attribute":    {"q", attrs{"Nope": "1"}, badName},
		"FIFO attribute":       {"q", attrs{"ContentBasedDeduplication": "true"}, badName},
		"visibility":           {"q", attrs{"VisibilityTimeout": "43200"}, ""},
		"visibility too long":  {"q", attrs{"VisibilityTimeout": "43201"}, badValue},
		"visibility no number": {"q", attrs{"VisibilityTimeout": "30s"}, badValue},
		"visibility signed":    {"q", attrs{"VisibilityTimeout": "+005"}, badValue},
		"visibility padded":    {"q", attrs{"VisibilityTimeout": "005"}, badValue},
		"policy":               {"q", attrs{"Policy": `{"Version":"2012-10-17","Statement":[]}`}, ""},
		"policy no JSON":       {"q", attrs{"Policy": "x"}, badValue},
		"policy no object":     {"q", attrs{"Policy": `["x"]`}, badValue},
		"policy of null":       {"q", attrs{"Policy": "null"}, badValue},
		"two encryptions":      {"q", attrs{"SqsManagedSseEnabled": "true", "KmsMasterKeyId": "alias/k"}, badName},
		"allow policy in lower case": {
			"q", attrs{"RedriveAllowPolicy": `{"redrivepermission":"denyAll"}`}, "InvalidParameterValue",
		},
		"visibility empty":    {"q", attrs{"VisibilityTimeout": ""}, badValue},
		"delay too long":      {"q", attrs{"DelaySeconds": "901"}, badValue},
		"retention too short": {"q", attrs{"MessageRetentionPeriod": "59"}, badValue},
		"retention too long":  {"q", attrs{"MessageRetentionPeriod": "1209601"}, badValue},
		"size too large":      {"q", attrs{"MaximumMessageSize": "1048577"}, badValue},
		"wait too long":       {"q", attrs{"ReceiveMessageWaitTimeSeconds": "21"}, badValue},
		"encryption":          {"q", attrs{"SqsManagedSseEnabled": "false", "KmsMasterKeyId": "alias/k"}, ""},
		"limit without scope": {
			"q.fifo", attrs{"FifoQueue": "true", "FifoThroughputLimit": "perMessageGroupId"}, badValue,
		},
		"allow policy no JSON": {"q", attrs{"RedriveAllowPolicy": "x"}, "InvalidParameterValue"},
		"allow policy unknown": {
			"q", attrs{"RedriveAllowPolicy": `{"redrivePermission":"some"}`}, "InvalidParameterValue",
		},
		"allow policy no queue": {
			"q", attrs{"RedriveAllowPolicy": `{"redrivePermission":"byQueue"}`}, "InvalidParameterValue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				_, err := c.CreateQueue(c.Context(),
					&awssqs.CreateQueueInput{QueueName: &tt.queue, Attributes: tt.attributes})
				if tt.code != "" {
					c.wantCode(err, tt.code, "")
					return
				}
				c.must(err)
			})
		})
	}
}

func TestCreateQueueAgain(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"VisibilityTimeout": "9"})
		if again := c.create("q", attrs{"VisibilityTimeout": "9"}); again != q {
			c.Errorf("got %s, want %s", again, q)
		}
		c.create("q", nil)
		_, err := c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{
			QueueName: aws.String("q"), Attributes: attrs{"VisibilityTimeout": "10"},
		})
		if !modelled[*types.QueueNameExists](err) {
			c.Errorf("other attributes: %v", err)
		}
		_, err = c.DeleteQueue(c.Context(), &awssqs.DeleteQueueInput{QueueUrl: &q})
		c.must(err)
		wait(time.Minute - 1)
		_, err = c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("q")})
		if !modelled[*types.QueueDeletedRecently](err) {
			c.Errorf("within a minute: %v", err)
		}
		wait(1)
		c.create("q", nil)
	})
}

func TestQueueAttributes(t *testing.T) {
	bubble(t, func(c *client) {
		created := strconv.FormatInt(time.Now().Unix(), 10)
		q := c.create("q.fifo", fifoAttrs)
		wait(time.Minute)
		_, err := c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &q, Attributes: attrs{"VisibilityTimeout": "7"},
		})
		c.must(err)
		want := attrs{
			"QueueArn": "arn:aws:sqs:us-east-1:000000000000:q.fifo", "VisibilityTimeout": "7",
			"CreatedTimestamp": created, "LastModifiedTimestamp": strconv.FormatInt(time.Now().Unix(), 10),
			"DelaySeconds": "0", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
			"ReceiveMessageWaitTimeSeconds": "0", "SqsManagedSseEnabled": "true", "FifoQueue": "true",
			"ContentBasedDeduplication": "true", "DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue",
			"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0",
			"ApproximateNumberOfMessagesDelayed": "0",
		}
		if diff := cmp.Diff(want, c.attributes(q)); diff != "" {
			c.Error(diff)
		}
		_, err = c.GetQueueAttributes(c.Context(), &awssqs.GetQueueAttributesInput{
			QueueUrl: &q, AttributeNames: []types.QueueAttributeName{"Nope"},
		})
		c.wantCode(err, "InvalidAttributeName", "Nope")
		standard := c.create("q", nil)
		_, err = c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &standard, Attributes: attrs{"FifoQueue": "true"},
		})
		c.wantCode(err, "InvalidAttributeName", "Unknown Attribute FifoQueue.")
		_, err = c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &q, Attributes: attrs{"FifoQueue": "False"},
		})
		c.wantCode(err, "InvalidAttributeValue", "Modifying queue type")
	})
}

func TestQueueIsFoundByThePathOfItsURL(t *testing.T) {
	bubble(t, func(c *client) {
		if q := c.create("q", nil); q != "http://localaws/000000000000/q" {
			c.Errorf("URL of the host that was called: %s", q)
		}
		c.send("http://other.example:4566/000000000000/q", "x")
		c.wantCounts("/000000000000/q", "1/0/0")
		c.wantCounts("q", "1/0/0")
		for url, code := range map[string]string{
			"http://localaws/000000000000/none": "AWS.SimpleQueueService.NonExistentQueue",
			"http://localaws/111111111111/q":    "AWS.SimpleQueueService.NonExistentQueue",
			"none":                              "AWS.SimpleQueueService.NonExistentQueue",
			":":                                 "AWS.SimpleQueueService.NonExistentQueue",
			"":                                  "MissingParameter",
		} {
			_, err := c.PurgeQueue(c.Context(), &awssqs.PurgeQueueInput{QueueUrl: &url})
			c.wantCode(err, code, "")
		}
		_, err := c.GetQueueUrl(c.Context(), &awssqs.GetQueueUrlInput{
			QueueName: aws.String("q"), QueueOwnerAWSAccountId: aws.String("111111111111"),
		})
		if !modelled[*types.QueueDoesNotExist](err) {
			c.Errorf("queue of another account: %v", err)
		}
	})
}

func TestPurge(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "1", "2")
		c.receive(q, 60)
		c.sendGroup(q, "b", "3")
		purge := &awssqs.PurgeQueueInput{QueueUrl: &q}
		_, err := c.PurgeQueue(c.Context(), purge)
		c.must(err)
		c.wantCounts(q, "0/0/0")
		c.sendGroup(q, "a", "4")
		c.wantReceive(q, 60, "4")
		_, err = c.PurgeQueue(c.Context(), purge)
		if !modelled[*types.PurgeQueueInProgress](err) {
			c.Errorf("second purge: %v", err)
		}
		wait(time.Minute)
		_, err = c.PurgeQueue(c.Context(), purge)
		c.must(err)
	})
}

func TestListQueuesInPages(t *testing.T) {
	bubble(t, func(c *client) {
		for _, name := range []string{"b-1", "a-3", "a-1", "a-2"} {
			c.create(name, nil)
		}
		var pages []string
		list := awssqs.NewListQueuesPaginator(c, &awssqs.ListQueuesInput{
			QueueNamePrefix: aws.String("a-"), MaxResults: aws.Int32(2),
		})
		for list.HasMorePages() {
			out, err := list.NextPage(c.Context())
			c.must(err)
			pages = append(pages, strings.ReplaceAll(strings.Join(out.QueueUrls, " "), "http://localaws/000000000000/", ""))
		}
		if diff := cmp.Diff([]string{"a-1 a-2", "a-3"}, pages); diff != "" {
			c.Error(diff)
		}
		for _, in := range []awssqs.ListQueuesInput{{MaxResults: aws.Int32(1001)}, {NextToken: aws.String("?")}} {
			_, err := c.ListQueues(c.Context(), &in)
			c.wantCode(err, "InvalidParameterValue", "")
		}
	})
}

func TestAQueueHasOneKindOfEncryption(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"KmsMasterKeyId": "alias/k"})
		if got := c.attributes(q)["SqsManagedSseEnabled"]; got != "false" {
			c.Errorf("with a key, SqsManagedSseEnabled is %s", got)
		}
		set := func(changes attrs) error {
			_, err := c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{QueueUrl: &q, Attributes: changes})
			return err
		}
		c.wantCode(set(attrs{"SqsManagedSseEnabled": "true"}), "InvalidAttributeName", "either enable KMS SSE or SQS SSE")
		c.must(set(attrs{"SqsManagedSseEnabled": "true", "KmsMasterKeyId": ""}))
		got := c.attributes(q)
		if _, ok := got["KmsMasterKeyId"]; ok || got["SqsManagedSseEnabled"] != "true" {
			c.Errorf("without the key: %v", got)
		}
	})
}
