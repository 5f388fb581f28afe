//go:build unix

package crashproof_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
)

// ending is what is to be seen when all is over.
type ending struct {
	// Jobs tells of each job by its id.
	Jobs map[string]jobResult
	// Again counts the calls of healthy jobs that were repeated since they ran beside a
	// culprit that was no suspect yet, up to as many as were held at its first call.
	Again int
	// Late are the jobs that were called in a process after a crash in it.
	Late []string
	// Lost counts the processes that ended by themselves, by how.
	Lost map[string]int
	// Left counts the messages that are still in the queue.
	Left int
}

// jobResult is what became of a job.
type jobResult struct {
	// Calls counts its calls of the provider without the one that Again counts,
	// Effects the keys that they had: a call takes effect once for a key.
	Calls, Effects int
	// Ledger is its item: the status, and the crashes if there are any.
	Ledger string
	// Dead is what the dead-letter queue holds of it, Stack a part of the stack.
	Dead, Stack string
}

var healthy = jobResult{Calls: 1, Effects: 1, Ledger: "COMPLETED"}

// atAnySpeed is what must be even where the machine was so slow that runs were cut
// off and writes failed: each job has its end, and took effect once. How often it
// was called for that, and what could be written down of it, is another matter.
func (e ending) atAnySpeed() ending {
	jobs := map[string]jobResult{}
	for id, f := range e.Jobs {
		status, _, _ := strings.Cut(f.Ledger, " ")
		dead, _, _ := strings.Cut(f.Dead, " attempts")
		jobs[id] = jobResult{Effects: f.Effects, Ledger: status, Dead: dead}
	}
	return ending{Jobs: jobs, Left: e.Left}
}

// ending looks at what the scenario has left behind. The function must have ended.
func (r *run) ending(ctx context.Context) (ending, error) {
	letters, err := r.letters(ctx)
	if err != nil {
		return ending{}, err
	}
	r.provider.mu.Lock() // calls of the last processes may still be noted
	defer r.provider.mu.Unlock()
	e := ending{Jobs: map[string]jobResult{}, Lost: maps.Clone(r.lost), Late: r.provider.late}
	for _, j := range r.jobs {
		f, again, err := r.jobResult(ctx, j, letters[j.body()])
		if err != nil {
			return ending{}, err
		}
		e.Jobs[j.ID] = f
		e.Again += again
		delete(letters, j.body())
	}
	for body := range letters {
		e.Jobs["stray letter "+body] = jobResult{}
	}
	if r.takesAlong {
		e.Lost = map[string]int{}
	}
	e.Again = min(e.Again, max(r.setting.held, 0)) // more is a matter of chance
	for _, q := range r.server.SQS().Stats() {
		if q.Name == r.queue() {
			e.Left = q.Visible + q.NotVisible + q.Delayed
		}
	}
	return e, nil
}

func (r *run) jobResult(ctx context.Context, j job, letters []types.Message) (f jobResult, again int, err error) {
	out, err := r.dynamodb.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table),
		Key:       map[string]ddb.AttributeValue{"id": &ddb.AttributeValueMemberS{Value: r.queue() + "#" + j.ID}},
	})
	if err != nil {
		return jobResult{}, 0, err
	}
	calls := r.provider.calls[j.ID]
	spoiled := r.spoiled()
	for !j.culprit && again < len(calls)-1 && spoiled[calls[again]] && calls[again] != calls[again+1] {
		again++
	}
	f = jobResult{Calls: len(calls) - again, Effects: len(r.provider.effects[j.ID]), Ledger: ledgerText(out.Item, letters)}
	f.Dead, f.Stack = r.deadText(letters)
	if r.takesAlong && !j.culprit && f.Dead == unrecorded {
		f.Dead = "" // SQS may have handed it out without the culprit, or not
	}
	return f, again, nil
}

// spoiled are the processes in which a healthy job may have died through no fault of
// its own. A job that kills its process is beside others until it is a suspect, at its
// third receive. Where one runs at a time, what was done before it may be unsettled at
// its first receive, and no later. That of one which is not even decoded is never known.
func (r *run) spoiled() map[string]bool {
	n := 0
	switch {
	case r.takesAlong:
		n = len(r.ended)
	case r.kills && r.setting.several():
		n = 2
	case r.kills || r.setting.hang:
		n = 1
	}
	spoiled := map[string]bool{}
	for _, j := range r.jobs {
		if !j.culprit {
			continue
		}
		ended := r.provider.calls[j.ID]
		if r.ends.Calls == 0 {
			ended = r.ended
		}
		for _, process := range ended[:min(n, len(ended))] {
			spoiled[process] = true
		}
	}
	return spoiled
}

// letters empties the dead-letter queue, by body.
func (r *run) letters(ctx context.Context) (map[string][]types.Message, error) {
	letters := map[string][]types.Message{}
	for {
		out, err := r.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(r.url(r.dead())), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		})
		if err != nil || len(out.Messages) == 0 {
			return letters, err
		}
		for _, m := range out.Messages {
			letters[*m.Body] = append(letters[*m.Body], m)
		}
	}
}

// deadText tells of the letters, and of the stack what the culprit's should have.
func (r *run) deadText(letters []types.Message) (dead, stack string) {
	var all []string
	for _, m := range letters {
		record, err := dlq.Open(m)
		switch {
		case errors.Is(err, dlq.ErrNoRecord):
			all = append(all, unrecorded)
			continue
		case err != nil:
			all = append(all, err.Error())
			continue
		}
		all = append(all, fmt.Sprintf("%s %s attempts %d", record.Class, record.Reason, record.Attempts))
		if stack = record.Stack; strings.Contains(stack, r.ends.Stack) {
			stack = r.ends.Stack
		}
	}
	return strings.Join(all, ", "), stack
}

// ledgerText leaves out what cannot be equal: times, names, and the claims, of
// which an innocent has more the longer it has to wait for its turn.
func ledgerText(item map[string]ddb.AttributeValue, letters []types.Message) string {
	if item == nil {
		return ""
	}
	words := text(item["status"])
	if n := text(item["crashes"]); n != "" && n != "0" {
		words += " crashes " + n
	}
	id := text(item["dlq_message_id"])
	if slices.ContainsFunc(letters, func(m types.Message) bool { return *m.MessageId == id }) {
		words += " confirmed"
	}
	return words
}

func text(v ddb.AttributeValue) string {
	switch v := v.(type) {
	case *ddb.AttributeValueMemberS:
		return v.Value
	case *ddb.AttributeValueMemberN:
		return v.Value
	}
	return ""
}
