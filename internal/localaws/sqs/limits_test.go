package sqs_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

type messageAttrs = map[string]types.MessageAttributeValue

func value(kind, v string) messageAttrs {
	return messageAttrs{"a": {DataType: aws.String(kind), StringValue: &v}}
}

func many(n int) messageAttrs {
	m := messageAttrs{}
	for i := range n {
		m["a"+strconv.Itoa(i)] = text("v")
	}
	return m
}

func TestMessageContent(t *testing.T) {
	t.Parallel()
	const invalid = "InvalidParameterValue"
	big := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct {
		body       string
		attributes messageAttrs
		code       string // empty means accepted
	}{
		"1 MiB":                    {body: big},
		"over 1 MiB":               {body: big + "x", code: invalid},
		"attributes count":         {body: big[:1<<20-10], attributes: messageAttrs{"attr": text("v")}, code: invalid},
		"attributes fit":           {body: big[:1<<20-11], attributes: messageAttrs{"attr": text("v")}},
		"empty body":               {code: "MissingParameter"},
		"legal characters":         {body: "\t\n\r \ud7ff\ue000\ufffd\U00010000\U0010ffff"},
		"control character":        {body: "a\x0bb", code: "InvalidMessageContents"},
		"noncharacter":             {body: "\ufffe", code: "InvalidMessageContents"},
		"ten attributes":           {body: "x", attributes: many(10)},
		"eleven attributes":        {body: "x", attributes: many(11), code: invalid},
		"custom type":              {body: "x", attributes: value("String.mine", "v")},
		"unknown type":             {body: "x", attributes: value("Strings", "v"), code: invalid},
		"empty value":              {body: "x", attributes: value("String", ""), code: invalid},
		"control character inside": {body: "x", attributes: value("String", "\x00"), code: invalid},
		"integer":                  {body: "x", attributes: value("Number", "-007")},
		"decimal":                  {body: "x", attributes: value("Number.float", "+1.5e-12")},
		"38 digits":                {body: "x", attributes: value("Number", "0."+strings.Repeat("9", 38))},
		"39 digits":                {body: "x", attributes: value("Number", strings.Repeat("9", 39)), code: invalid},
		"not a number":             {body: "x", attributes: value("Number", "Inf"), code: invalid},
		"binary without value":     {body: "x", attributes: value("Binary", "v"), code: invalid},
		"reserved name":            {body: "x", attributes: messageAttrs{"aws.x": text("v")}, code: invalid},
		"dots in a row":            {body: "x", attributes: messageAttrs{"a..b": text("v")}, code: invalid},
		"long name":                {body: "x", attributes: messageAttrs{big[:257]: text("v")}, code: invalid},
		"long type":                {body: "x", attributes: value("String."+big[:250], "v"), code: invalid},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q", nil)
				in := &awssqs.SendMessageInput{QueueUrl: &q, MessageBody: &tt.body, MessageAttributes: tt.attributes}
				_, err := c.SendMessage(c.Context(), in)
				if tt.code != "" {
					c.wantCode(err, tt.code, "")
					c.wantCounts(q, "0/0/0")
					return
				}
				c.must(err)
				if got := *c.one(q, 60).Body; got != tt.body {
					c.Errorf("body: got %d bytes, want %d", len(got), len(tt.body))
				}
			})
		})
	}
}

// The digest that the API reference describes, computed by hand for these
// attributes.
func TestDigestOfAttributes(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		sent := c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &q, MessageBody: aws.String("x"),
			MessageAttributes: messageAttrs{
				"n": {DataType: aws.String("Number"), StringValue: aws.String("1")},
				"b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1}},
			},
		})
		const want = "6d3e0b67e05bf94ede72102c4dc09565"
		if got := *sent.MD5OfMessageAttributes; got != want {
			c.Errorf("sent: got %s, want %s", got, want)
		}
		if got := *c.one(q, 1).MD5OfMessageAttributes; got != want {
			c.Errorf("received: got %s, want %s", got, want)
		}
	})
}

func TestListsOfAttributeValuesAreNotImplemented(t *testing.T) {
	t.Parallel()
	kind, one := aws.String("String"), aws.String("v")
	for name, in := range map[string]awssqs.SendMessageInput{
		"strings": {MessageAttributes: messageAttrs{"a": {DataType: kind, StringListValues: []string{"v"}}}},
		"strings beside the value": {
			MessageAttributes: messageAttrs{"a": {DataType: kind, StringValue: one, StringListValues: []string{"v"}}},
		},
		"binaries": {MessageAttributes: messageAttrs{"a": {DataType: kind, BinaryListValues: [][]byte{{1}}}}},
		"system attribute": {MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: kind, StringValue: one, StringListValues: []string{"v"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q", nil)
				in.QueueUrl, in.MessageBody = &q, aws.String("x")
				_, err := c.SendMessage(c.Context(), &in)
				c.wantCode(err, "AWS.SimpleQueueService.UnsupportedOperation", "ListValues")
				es := entries(2)
				es[1].MessageAttributes, es[1].MessageSystemAttributes = in.MessageAttributes, in.MessageSystemAttributes
				sent, err := c.SendMessageBatch(c.Context(), &awssqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
				c.must(err)
				const want = "e1 AWS.SimpleQueueService.UnsupportedOperation true"
				if diff := cmp.Diff(want, failures(sent.Failed)); diff != "" {
					c.Error(diff)
				}
				c.wantCounts(q, "1/0/0")
			})
		})
	}
}

func TestParametersOutOfRange(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		for _, in := range []awssqs.ReceiveMessageInput{
			{MaxNumberOfMessages: 11}, {MaxNumberOfMessages: -1}, {WaitTimeSeconds: 21}, {WaitTimeSeconds: -1},
			{VisibilityTimeout: 43_201}, {VisibilityTimeout: -1},
		} {
			in.QueueUrl = &q
			_, err := c.ReceiveMessage(c.Context(), &in)
			c.wantCode(err, "InvalidParameterValue", "Must be ")
		}
		for _, in := range []awssqs.SendMessageInput{
			{DelaySeconds: 901}, {DelaySeconds: -1},
			{MessageDeduplicationId: aws.String("d")}, {MessageGroupId: aws.String("no space")},
			{MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"Other": {DataType: aws.String("String"), StringValue: aws.String("v")},
			}},
		} {
			in.QueueUrl, in.MessageBody = &q, aws.String("x")
			_, err := c.SendMessage(c.Context(), &in)
			c.wantCode(err, "InvalidParameterValue", "")
		}
		_, err := c.ReceiveMessage(c.Context(), &awssqs.ReceiveMessageInput{
			QueueUrl: &q, ReceiveRequestAttemptId: aws.String("a"),
		})
		c.wantCode(err, "InvalidParameterValue", "not valid for this queue type")
	})
}

func entries(n int) []types.SendMessageBatchRequestEntry {
	es := make([]types.SendMessageBatchRequestEntry, n)
	for i := range es {
		es[i].Id, es[i].MessageBody = aws.String("e"+strconv.Itoa(i)), aws.String("b"+strconv.Itoa(i))
	}
	return es
}

func TestBatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	half := aws.String(strings.Repeat("x", 1<<19))
	for name, tt := range map[string]struct {
		entries []types.SendMessageBatchRequestEntry
		code    string
	}{
		"empty":   {entries(0), "EmptyBatchRequest"},
		"eleven":  {entries(11), "TooManyEntriesInBatchRequest"},
		"same id": {append(entries(1), entries(1)...), "BatchEntryIdsNotDistinct"},
		"bad id":  {[]types.SendMessageBatchRequestEntry{{Id: aws.String("a b"), MessageBody: half}}, "InvalidBatchEntryId"},
		"over 1 MiB in sum": {append(entries(1),
			types.SendMessageBatchRequestEntry{Id: aws.String("x"), MessageBody: half},
			types.SendMessageBatchRequestEntry{Id: aws.String("y"), MessageBody: half}), "BatchRequestTooLong"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q", nil)
				_, err := c.SendMessageBatch(c.Context(),
					&awssqs.SendMessageBatchInput{QueueUrl: &q, Entries: tt.entries})
				c.wantCode(err, "AWS.SimpleQueueService."+tt.code, "")
				c.wantCounts(q, "0/0/0")
			})
		})
	}
}

func TestBatchesReportEachEntry(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"MaximumMessageSize": "1024"})
		es := entries(4)
		es[1].MessageBody = aws.String("\x01")
		es[2].MessageBody = aws.String(strings.Repeat("x", 1025))
		es[3].DelaySeconds = 901
		sent, err := c.SendMessageBatch(c.Context(), &awssqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
		c.must(err)
		want := "e1 InvalidMessageContents true, e2 InvalidParameterValue true, e3 InvalidParameterValue true"
		if diff := cmp.Diff(want, failures(sent.Failed)); diff != "" || len(sent.Successful) != 1 {
			c.Errorf("%d sent; %s", len(sent.Successful), diff)
		}
		m := c.one(q, 60)
		changed, err := c.ChangeMessageVisibilityBatch(c.Context(), &awssqs.ChangeMessageVisibilityBatchInput{
			QueueUrl: &q, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
				{Id: aws.String("long"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 43_201},
				{Id: aws.String("bad"), ReceiptHandle: aws.String("bad"), VisibilityTimeout: 5},
				{Id: aws.String("good"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 5},
			},
		})
		c.must(err)
		want = "long InvalidParameterValue true, bad ReceiptHandleIsInvalid true"
		if diff := cmp.Diff(want, failures(changed.Failed)); diff != "" || len(changed.Successful) != 1 {
			c.Errorf("%d changed; %s", len(changed.Successful), diff)
		}
	})
}

func failures(failed []types.BatchResultErrorEntry) string {
	var all []string
	for _, f := range failed {
		all = append(all, fmt.Sprintf("%s %s %v", *f.Id, *f.Code, f.SenderFault))
	}
	return strings.Join(all, ", ")
}

func TestBatchToAFIFOQueueNeedsGroups(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		es := entries(2)
		es[0].MessageGroupId = aws.String("g")
		_, err := c.SendMessageBatch(c.Context(), &awssqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
		c.wantCode(err, "InvalidParameterValue", "MessageGroupId")
		c.wantCounts(q, "0/0/0")
	})
}
