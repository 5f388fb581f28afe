package system

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
)

// send is a message that a producer sends.
type send struct {
	job  *job
	name string
	at   time.Duration
	// other reports whether it has another payload than the first of its job.
	other bool
}

// String names message and time.
func (s *send) String() string { return fmt.Sprintf("%s %v", s.name, s.at.Round(time.Millisecond)) }

// drawSends draws what producers send: each job once, and copies.
func (c *config) drawSends() {
	for _, j := range c.jobs {
		c.sends = append(c.sends, &send{job: j, name: j.name, at: j.sent})
		r := c.seed.at("copies of %s", j.name)
		n, other, late := r.IntN(3), chance(r, 0.5), chance(r, 0.5)
		if c.on[copies] && chance(r, 0.4) {
			for i := range n {
				at := j.sent + between(r, time.Microsecond, 10*time.Second)
				if late {
					at = max(at, evenly(r, j.sent, max(c.calm, j.sent)))
				}
				c.sends = append(c.sends, &send{job: j, name: fmt.Sprintf("%s/%d", j.name, i+2), at: at})
			}
		}
		if c.on[contests] && other {
			at := evenly(r, 0, c.calm)
			c.sends = append(c.sends, &send{job: j, name: j.name + "/x", at: at, other: true})
		}
	}
	c.sends = slices.DeleteFunc(c.sends, func(s *send) bool { return c.leftOut(s.name) })
}

// contested reports whether two payloads are sent under the job's key.
func (c *config) contested(j *job) bool {
	return slices.ContainsFunc(c.sends, func(s *send) bool { return s.job == j && s.other })
}

func (s *send) body() string {
	if s.job.kind == garbled {
		return `{"id":"` + s.job.name + `","kind":`
	}
	p := payload{ID: s.job.name, Kind: s.job.kind}
	if s.job.kind == keyless {
		p.ID = ""
	}
	if s.other {
		p.Note = "other"
	}
	text, _ := json.Marshal(p)
	return string(text)
}

// send sends a message.
func (w *world) send(s *send) {
	w.waitUntil(s.at)
	in := &sqs.SendMessageInput{
		QueueUrl: &w.source, MessageBody: aws.String(s.body()),
		MessageAttributes: map[string]types.MessageAttributeValue{
			nameAttribute: {DataType: aws.String("String"), StringValue: aws.String(s.name)},
		},
	}
	if w.on[ordered] {
		in.MessageGroupId, in.MessageDeduplicationId = &s.job.group, &s.name
	}
	must(w.direct.sqs.SendMessage(context.Background(), in))
}

// operate replays dead letters at some times.
func (w *world) operate() {
	r := w.seed.at("operators")
	for range 1 + r.IntN(3) {
		at := evenly(r, 0, w.calm)
		byAWS := chance(r, 0.3)
		time.AfterFunc(at, func() {
			if byAWS {
				w.redrive()
			} else {
				w.replay()
			}
		})
	}
}

// redrive lets AWS move all letters back.
func (w *world) redrive() {
	w.note("ops", nil, "REDRIVE by AWS")
	_, _ = w.direct.sqs.StartMessageMoveTask(context.Background(), &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(w.arn("dead")), DestinationArn: aws.String(w.arn("jobs")),
		MaxNumberOfMessagesPerSecond: aws.Int32(37),
	})
}

// replay sends letters again, some of them mended, and some without their record.
func (w *world) replay() {
	w.replaying.Add(1)
	defer w.replaying.Add(-1)
	ctx := context.Background()
	out := must(w.direct.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &w.letters, MaxNumberOfMessages: 10, VisibilityTimeout: 600, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}))
	for _, m := range out.Messages {
		name := w.nameOf(*m.MessageId)
		r := w.seed.at("replay of %s at %v", name, w.now())
		<-time.After(between(r, time.Millisecond, 100*time.Millisecond))
		if chance(r, 0.2) {
			continue
		}
		in := &sqs.SendMessageInput{QueueUrl: &w.source, MessageBody: m.Body, MessageAttributes: m.MessageAttributes}
		mended, stripped := chance(r, 0.6), chance(r, 0.2)
		if mended {
			does := quick
			if w.job(name).kind == halts {
				does = stepped // which goes on behind the step that is done
			}
			text, _ := json.Marshal(payload{ID: keyOf(name), Kind: does, Note: "mended"})
			in.MessageBody = aws.String(string(text))
			w.judge.edit(keyOf(name))
		}
		if stripped {
			delete(in.MessageAttributes, dlq.AttributeName)
		}
		if w.on[ordered] {
			in.MessageGroupId = aws.String(m.Attributes["MessageGroupId"])
			in.MessageDeduplicationId = aws.String(fmt.Sprint(strings.ReplaceAll(name, "/", "-"), "-", w.now().Nanoseconds()))
		}
		w.note("ops", []string{keyOf(name)}, "REPLAY %s, mended %v, stripped %v", name, mended, stripped)
		must(w.direct.sqs.SendMessage(ctx, in))
		must(w.direct.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &w.letters, ReceiptHandle: m.ReceiptHandle}))
	}
}

// lower lowers the queue's maxReceiveCount, which the function learns nothing of.
func (w *world) lower() {
	r := w.seed.at("lowering")
	at, to := evenly(r, time.Second, w.calm), 1+r.IntN(3)
	time.AfterFunc(at, func() {
		w.note("ops", nil, "maxReceiveCount is %d now", to)
		w.judge.excuse(&w.judge.lowered)
		must(w.direct.sqs.SetQueueAttributes(context.Background(), &sqs.SetQueueAttributesInput{
			QueueUrl: &w.source, Attributes: map[string]string{"RedrivePolicy": w.redrivePolicy(to)},
		}))
	})
}

func (w *world) purge() {
	time.AfterFunc(evenly(w.seed.at("purge"), time.Second, w.calm), func() {
		w.note("ops", nil, "PURGE")
		w.judge.purged()
		must(w.direct.sqs.PurgeQueue(context.Background(), &sqs.PurgeQueueInput{QueueUrl: &w.source}))
	})
}
