package sqs_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

const arnPrefix = "arn:aws:sqs:us-east-1:000000000000:"

// letters sends messages to a dead-letter queue by way of its source, which has
// a visibility timeout of one second and a maximum of one receive.
func (c *client) letters(source string, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		c.send(source, body)
	}
	c.receive(source, 1)
	wait(time.Second)
	if left := c.receive(source, 1); len(left) > 0 {
		c.Fatalf("%d messages left in the source", len(left))
	}
}

func (c *client) startMove(in awssqs.StartMessageMoveTaskInput) (handle string) {
	c.Helper()
	if in.SourceArn == nil {
		in.SourceArn = aws.String(arnPrefix + "dead")
	}
	out, err := c.StartMessageMoveTask(c.Context(), &in)
	c.must(err)
	return *out.TaskHandle
}

func (c *client) moves(limit int32) []types.ListMessageMoveTasksResultEntry {
	c.Helper()
	out, err := c.ListMessageMoveTasks(c.Context(), &awssqs.ListMessageMoveTasksInput{
		SourceArn: aws.String(arnPrefix + "dead"), MaxResults: &limit,
	})
	c.must(err)
	return out.Results
}

// wantMove compares status, counts and failure reason of the latest task.
func (c *client) wantMove(want string) {
	c.Helper()
	v := c.moves(1)[0]
	got := fmt.Sprintf("%s %d/%d", *v.Status, v.ApproximateNumberOfMessagesMoved, *v.ApproximateNumberOfMessagesToMove)
	if v.FailureReason != nil {
		got += " " + *v.FailureReason
	}
	if got != want {
		c.Errorf("task: got %q, want %q", got, want)
	}
}

func TestMoveBackToEachSource(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		other := c.create("other", attrs{"RedrivePolicy": c.attributes(source)["RedrivePolicy"]})
		c.letters(source, "a", "b")
		c.letters(other, "c")
		c.startMove(awssqs.StartMessageMoveTaskInput{})
		wait(time.Second)
		c.wantMove("COMPLETED 3/3")
		c.wantCounts(dead, "0/0/0")
		c.wantReceive(source, 60, "a,b")
		c.wantReceive(other, 60, "c")
	})
}

func TestMovedMessageIsANewMessage(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		sent := c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &source, MessageBody: aws.String("x"), MessageGroupId: aws.String("tenant"),
			MessageAttributes: map[string]types.MessageAttributeValue{"a": text("v")},
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1")},
			},
		})
		c.letters(source)
		wait(time.Hour)
		before := c.one(dead, 1)
		wait(time.Second)
		target := c.create("target", nil)
		c.startMove(awssqs.StartMessageMoveTaskInput{DestinationArn: aws.String(arnPrefix + "target")})
		start := time.Now()
		wait(time.Second)
		m := c.one(target, 60)
		if *m.MessageId == *sent.MessageId || *m.Body != "x" || *m.MessageAttributes["a"].StringValue != "v" {
			c.Errorf("moved message: %+v", m)
		}
		want := attrs{
			"ApproximateReceiveCount": "1", "AWSTraceHeader": "Root=1", "MessageGroupId": "tenant",
			"SenderId": "000000000000", "ApproximateFirstReceiveTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
			"SentTimestamp": strconv.FormatInt(start.UnixMilli()+1, 10),
		}
		if diff := cmp.Diff(want, m.Attributes); diff != "" {
			c.Errorf("attributes of the moved message:\n%s", diff)
		}
		c.must(c.delete(dead, before))
		c.wantCounts(target, "0/1/0")
	})
}

func TestMoveObservesItsRate(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.letters(source, "a", "b", "c", "d")
		handle := c.startMove(awssqs.StartMessageMoveTaskInput{MaxNumberOfMessagesPerSecond: aws.Int32(2)})
		wait(400 * time.Millisecond)
		c.wantMove("RUNNING 0/4")
		wait(time.Second)
		c.wantMove("RUNNING 2/4")
		if got := c.moves(1)[0]; aws.ToString(got.TaskHandle) != handle || *got.MaxNumberOfMessagesPerSecond != 2 {
			c.Errorf("running task: %+v", got)
		}
		wait(time.Second)
		c.wantMove("COMPLETED 4/4")
		if got := c.moves(1)[0]; got.TaskHandle != nil || got.DestinationArn != nil {
			c.Errorf("completed task: %+v", got)
		}
		c.wantCounts(dead, "0/0/0")
	})
}

// The number of messages to move is fixed at the start: later messages are not
// moved.
func TestMoveIgnoresMessagesSentAfterItsStart(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.create("target", nil)
		c.letters(source, "a", "b")
		c.startMove(awssqs.StartMessageMoveTaskInput{
			DestinationArn: aws.String(arnPrefix + "target"), MaxNumberOfMessagesPerSecond: aws.Int32(1),
		})
		c.send(dead, "late")
		wait(5 * time.Second)
		c.wantMove("COMPLETED 2/2")
		c.wantReceive(dead, 60, "late")
	})
}

func TestMoveEndsEarlyWhenOthersTakeTheMessages(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.letters(source, "a", "b", "c")
		c.startMove(awssqs.StartMessageMoveTaskInput{MaxNumberOfMessagesPerSecond: aws.Int32(1)})
		wait(1500 * time.Millisecond)
		if n := len(c.receive(dead, 60)); n != 2 {
			c.Errorf("%d messages left, want 2", n)
		}
		wait(time.Second)
		c.wantMove("COMPLETED 1/3")
	})
}

func TestMoveFailsAtAMessageWithoutSource(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.letters(source, "a")
		c.send(dead, "by hand")
		c.startMove(awssqs.StartMessageMoveTaskInput{})
		wait(time.Second)
		c.wantMove("FAILED 1/2 CouldNotDetermineMessageSource")
		c.wantReceive(source, 60, "a")
		c.wantCounts(dead, "1/0/0")
		c.create("target", nil)
		c.startMove(awssqs.StartMessageMoveTaskInput{DestinationArn: aws.String(arnPrefix + "target")})
		wait(time.Second)
		c.wantMove("COMPLETED 1/1")
	})
}

func TestMoveEndsWhenItsQueuesAreDeleted(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.create("keeper", attrs{"RedrivePolicy": c.attributes(source)["RedrivePolicy"]})
		c.letters(source, "a", "b", "c")
		in := awssqs.StartMessageMoveTaskInput{MaxNumberOfMessagesPerSecond: aws.Int32(1)}
		c.startMove(in)
		wait(1500 * time.Millisecond)
		_, err := c.DeleteQueue(c.Context(), &awssqs.DeleteQueueInput{QueueUrl: &source})
		c.must(err)
		wait(time.Second)
		c.wantMove("FAILED 1/3 AWS.SimpleQueueService.NonExistentQueue")

		handle := c.startMove(in)
		_, err = c.DeleteQueue(c.Context(), &awssqs.DeleteQueueInput{QueueUrl: &dead})
		c.must(err)
		wait(5 * time.Second)
		_, err = c.CancelMessageMoveTask(c.Context(), &awssqs.CancelMessageMoveTaskInput{TaskHandle: &handle})
		c.wantCode(err, "ResourceNotFoundException", "SourceArn")
	})
}

func TestCancelledMove(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.letters(source, "a", "b", "c")
		handle := c.startMove(awssqs.StartMessageMoveTaskInput{MaxNumberOfMessagesPerSecond: aws.Int32(1)})
		wait(1500 * time.Millisecond)
		cancel := func() (*awssqs.CancelMessageMoveTaskOutput, error) {
			return c.CancelMessageMoveTask(c.Context(), &awssqs.CancelMessageMoveTaskInput{TaskHandle: &handle})
		}
		out, err := cancel()
		c.must(err)
		if n := out.ApproximateNumberOfMessagesMoved; n != 1 {
			c.Errorf("moved %d, want 1", n)
		}
		wait(time.Minute)
		c.wantMove("CANCELLED 1/3")
		c.wantCounts(dead, "2/0/0")
		_, err = cancel()
		c.wantCode(err, "AWS.SimpleQueueService.UnsupportedOperation", "CANCELLED")
		c.startMove(awssqs.StartMessageMoveTaskInput{})
		wait(time.Second)
		c.wantMove("COMPLETED 2/2")
	})
}

func TestMovesThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		source, _ := c.pair(1, "", nil)
		c.create("q.fifo", fifoAttrs)
		c.letters(source, "a", "b")
		arn := func(name string) *string { return aws.String(arnPrefix + name) }
		for _, tt := range []struct {
			source, destination *string
			rate                int32
			code, text          string
		}{
			{arn("none"), nil, 1, "ResourceNotFoundException", "SourceArn"},
			{aws.String("no ARN"), nil, 1, "ResourceNotFoundException", "SourceArn"},
			{arn("source"), nil, 1, "InvalidParameterValue", "configured as a Dead Letter Queue"},
			{arn("dead"), arn("none"), 1, "ResourceNotFoundException", "DestinationArn"},
			{arn("dead"), arn("dead"), 1, "InvalidParameterValue", "same"},
			{arn("dead"), arn("q.fifo"), 1, "InvalidParameterValue", "same type"},
			{arn("dead"), nil, 0, "InvalidParameterValue", "MaxNumberOfMessagesPerSecond"},
			{arn("dead"), nil, 501, "InvalidParameterValue", "MaxNumberOfMessagesPerSecond"},
		} {
			_, err := c.StartMessageMoveTask(c.Context(), &awssqs.StartMessageMoveTaskInput{
				SourceArn: tt.source, DestinationArn: tt.destination, MaxNumberOfMessagesPerSecond: &tt.rate,
			})
			c.wantCode(err, tt.code, tt.text)
		}
		in := awssqs.StartMessageMoveTaskInput{SourceArn: arn("dead"), MaxNumberOfMessagesPerSecond: aws.Int32(1)}
		c.startMove(in)
		_, err := c.StartMessageMoveTask(c.Context(), &in)
		c.wantCode(err, "InvalidParameterValue", "There is already a task running")
	})
}

// otherTask returns a task handle in which one member is another.
func otherTask(handle, member string) string {
	text, _ := base64.StdEncoding.DecodeString(handle)
	var members map[string]string
	_ = json.Unmarshal(text, &members)
	members[member] += "x"
	text, _ = json.Marshal(members)
	return base64.StdEncoding.EncodeToString(text)
}

func TestTaskHandlesThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		source, _ := c.pair(1, "", nil)
		c.letters(source, "a")
		known := c.startMove(awssqs.StartMessageMoveTaskInput{MaxNumberOfMessagesPerSecond: aws.Int32(1)})
		for handle, want := range map[string]string{
			"?":                           "InvalidParameterValue",
			"bm9uZQ==":                    "InvalidParameterValue", // decoded: none
			otherTask(known, "taskId"):    "ResourceNotFoundException",
			otherTask(known, "sourceArn"): "ResourceNotFoundException",
		} {
			_, err := c.CancelMessageMoveTask(c.Context(), &awssqs.CancelMessageMoveTaskInput{TaskHandle: &handle})
			c.wantCode(err, want, "")
		}
		for _, n := range []int32{0, 11} {
			_, err := c.ListMessageMoveTasks(c.Context(), &awssqs.ListMessageMoveTasksInput{
				SourceArn: aws.String(arnPrefix + "dead"), MaxResults: &n,
			})
			c.wantCode(err, "InvalidParameterValue", "MaxResults")
		}
	})
}

func TestTheLatestTenMovesAreListed(t *testing.T) {
	bubble(t, func(c *client) {
		source, _ := c.pair(1, "", nil)
		for i := range 12 {
			c.letters(source, strings.Split("abcdefghijkl"[:i+1], "")[:min(i+1, 10)]...)
			c.startMove(awssqs.StartMessageMoveTaskInput{})
			wait(time.Second)
			c.receive(source, 1)
			c.receive(source, 1)
			wait(time.Hour)
			c.must(c.purge(source))
		}
		all := c.moves(10)
		if len(all) != 10 || len(c.moves(3)) != 3 {
			c.Fatalf("%d tasks, and %d of at most 3", len(all), len(c.moves(3)))
		}
		for i := 1; i < len(all); i++ {
			if all[i].StartedTimestamp >= all[i-1].StartedTimestamp {
				c.Errorf("task %d was not started before task %d", i, i-1)
			}
		}
	})
}

func (c *client) purge(url string) error {
	_, err := c.PurgeQueue(c.Context(), &awssqs.PurgeQueueInput{QueueUrl: &url})
	return err
}

func TestMoveOfAFIFOQueueKeepsTheOrderOfGroups(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, ".fifo", fifoAttrs)
		c.sendGroup(source, "g", "1", "2", "3")
		c.sendGroup(source, "h", "4")
		c.receive(source, 1)
		wait(time.Second)
		c.receive(source, 1)
		c.wantCounts(dead, "4/0/0")
		c.startMove(awssqs.StartMessageMoveTaskInput{SourceArn: aws.String(arnPrefix + "dead.fifo")})
		wait(time.Second)
		var order []string
		last := ""
		for _, m := range c.receive(source, 60) {
			if m.Attributes["MessageGroupId"] != "g" {
				continue
			}
			order = append(order, *m.Body)
			if n := m.Attributes["SequenceNumber"]; n <= last {
				c.Errorf("sequence number %s after %s", n, last)
			}
			last = m.Attributes["SequenceNumber"]
		}
		if got := strings.Join(order, ","); got != "1,2,3" {
			c.Errorf("order of the group: %s", got)
		}
	})
}

func TestMoveWakesALongPollAndWaitsForTheDelay(t *testing.T) {
	bubble(t, func(c *client) {
		source, _ := c.pair(1, "", nil)
		target := c.create("target", attrs{"DelaySeconds": "3"})
		c.letters(source, "a")
		done := c.poll(c.Context(), target)
		c.startMove(awssqs.StartMessageMoveTaskInput{DestinationArn: aws.String(arnPrefix + "target")})
		c.wantPolled(done, "a", 3*time.Second+time.Millisecond)
	})
}

// Without a rate messages are moved in steps, so that other calls can use the
// queues in between.
func TestMoveOfManyMessages(t *testing.T) {
	bubble(t, func(c *client) {
		_, dead := c.pair(1, "", nil)
		target := c.create("target", nil)
		const n = 1200 // more than two steps
		for range n / 10 {
			_, err := c.SendMessageBatch(c.Context(), &awssqs.SendMessageBatchInput{QueueUrl: &dead, Entries: entries(10)})
			c.must(err)
		}
		c.startMove(awssqs.StartMessageMoveTaskInput{DestinationArn: aws.String(arnPrefix + "target")})
		wait(time.Millisecond)
		synctest.Wait()
		c.wantMove(fmt.Sprintf("RUNNING 500/%d", n))
		wait(10 * time.Millisecond)
		c.wantMove(fmt.Sprintf("COMPLETED %d/%d", n, n))
		c.wantCounts(target, fmt.Sprintf("%d/0/0", n))
	})
}
