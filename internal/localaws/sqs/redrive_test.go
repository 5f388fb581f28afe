package sqs_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestRedriveOnTheReceiveAfterTheMaximum(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(2, "", nil)
		sent := c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &source, MessageBody: aws.String("poison"),
			MessageAttributes: map[string]types.MessageAttributeValue{"a": text("v")},
		})
		var before types.Message
		for range 2 {
			before = c.one(source, 10)
			wait(10 * time.Second)
		}
		c.wantCounts(source, "1/0/0")
		c.wantCounts(dead, "0/0/0")
		c.wantReceive(source, 10, "")
		m := c.one(dead, 10)
		if *m.MessageId != *sent.MessageId || *m.Body != "poison" || *m.MessageAttributes["a"].StringValue != "v" {
			c.Errorf("moved: %v", m)
		}
		kept := attrs{
			"SentTimestamp":            before.Attributes["SentTimestamp"],
			"DeadLetterQueueSourceArn": "arn:aws:sqs:us-east-1:000000000000:source",
			"ApproximateReceiveCount":  "3",
		}
		for name, want := range kept {
			if got := m.Attributes[name]; got != want {
				c.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	})
}

func TestRedrivenMessageIsReplacedInTheSameReceive(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.send(source, "old")
		c.must(c.change(source, c.one(source, 60), 0))
		c.send(source, "new")
		c.wantReceive(source, 60, "new")
		c.wantReceive(dead, 60, "old")
	})
}

func TestRedriveWakesALongPollOfTheDeadLetterQueue(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.send(source, "x")
		c.one(source, 5)
		done := c.poll(c.Context(), dead)
		wait(5 * time.Second)
		c.wantReceive(source, 60, "")
		c.wantPolled(done, "x", 5*time.Second)
	})
}

func TestRedriveOfAFIFOQueue(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, ".fifo", fifoAttrs)
		c.sendGroup(source, "g", "head", "tail")
		head := c.wantReceive(source, 5, "head,tail")[0]
		wait(5 * time.Second)
		c.sendGroup(source, "g", "fresh")
		c.wantReceive(source, 5, "fresh")
		moved := c.wantReceive(dead, 60, "head,tail")[0]
		if got := moved.Attributes["MessageGroupId"]; got != "g" {
			c.Errorf("group %q", got)
		}
		if moved.Attributes["SentTimestamp"] == head.Attributes["SentTimestamp"] {
			c.Error("the enqueue time of a FIFO message begins anew")
		}
	})
}

func TestRetentionOfDeadLettersCountsFromTheSend(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", attrs{"MessageRetentionPeriod": "100"})
		c.send(source, "x")
		wait(60 * time.Second)
		c.must(c.change(source, c.one(source, 60), 0))
		c.wantReceive(source, 60, "")
		wait(39 * time.Second)
		c.wantCounts(dead, "1/0/0")
		wait(time.Second)
		c.wantCounts(dead, "0/0/0")
	})
}

func TestMessageStaysWithoutDeadLetterQueue(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		c.send(source, "x")
		c.must(c.change(source, c.one(source, 60), 0))
		_, err := c.DeleteQueue(c.Context(), &awssqs.DeleteQueueInput{QueueUrl: &dead})
		c.must(err)
		c.wantReceive(source, 60, "x")
	})
}

func TestRedrivePolicies(t *testing.T) {
	t.Parallel()
	const dead = `"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead"`
	for name, tt := range map[string]struct{ policy, refusal string }{
		"number":          {`{` + dead + `,"maxReceiveCount":3}`, ""},
		"string":          {`{` + dead + `,"maxReceiveCount":"3"}`, ""},
		"no JSON":         {`nope`, "not a valid JSON map"},
		"no count":        {`{` + dead + `}`, "mandatory attribute: maxReceiveCount"},
		"no target":       {`{"maxReceiveCount":3}`, "mandatory attribute: deadLetterTargetArn"},
		"count 0":         {`{` + dead + `,"maxReceiveCount":0}`, "from 1 to 1000"},
		"count 1001":      {`{` + dead + `,"maxReceiveCount":1001}`, "from 1 to 1000"},
		"count no number": {`{` + dead + `,"maxReceiveCount":"many"}`, "from 1 to 1000"},
		"lower case too":  {`{` + dead + `,"maxReceiveCount":3,"maxreceivecount":9}`, "unknown attribute: maxreceivecount"},
		"other region": {
			`{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":3}`, "does not exist",
		},
		"other type": {
			`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo","maxReceiveCount":3}`, "same type",
		},
		"denied": {
			`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:closed","maxReceiveCount":3}`, "does not allow",
		},
		"of another source": {
			`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:others","maxReceiveCount":3}`, "does not allow",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				c.create("dead", nil)
				c.create("dead.fifo", fifoAttrs)
				c.create("closed", attrs{"RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`})
				c.create("others", attrs{"RedriveAllowPolicy": `{"redrivePermission":"byQueue",` +
					`"sourceQueueArns":["arn:aws:sqs:us-east-1:000000000000:another"]}`})
				_, err := c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{
					QueueName: aws.String("source"), Attributes: attrs{"RedrivePolicy": tt.policy},
				})
				if tt.refusal != "" {
					c.wantCode(err, "InvalidParameterValue", tt.refusal)
					return
				}
				c.must(err)
			})
		})
	}
}

func TestRedrivePolicyCanBeRemoved(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		sources, err := c.ListDeadLetterSourceQueues(c.Context(),
			&awssqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
		c.must(err)
		if len(sources.QueueUrls) != 1 || sources.QueueUrls[0] != source {
			c.Errorf("sources: %v", sources.QueueUrls)
		}
		_, err = c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &source, Attributes: attrs{"RedrivePolicy": ""},
		})
		c.must(err)
		if p, ok := c.attributes(source)["RedrivePolicy"]; ok {
			c.Errorf("RedrivePolicy: %q", p)
		}
		c.send(source, "x")
		c.must(c.change(source, c.one(source, 60), 0))
		c.one(source, 60)
	})
}

func TestDeadLetterQueueWithItsOwnPolicyCountsItsOwnReceives(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(2, "", nil)
		last := c.create("last", nil)
		_, err := c.SetQueueAttributes(c.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &dead, Attributes: attrs{"RedrivePolicy": `{"maxReceiveCount":1,` +
				`"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:last"}`},
		})
		c.must(err)
		c.send(source, "x")
		for range 2 {
			c.must(c.change(source, c.one(source, 60), 0))
		}
		c.wantReceive(source, 60, "")
		c.must(c.change(dead, c.one(dead, 60), 0))
		c.wantReceive(dead, 60, "")
		if got := c.one(last, 60).Attributes["DeadLetterQueueSourceArn"]; got != "arn:aws:sqs:us-east-1:000000000000:dead" {
			c.Errorf("source %s", got)
		}
	})
}
