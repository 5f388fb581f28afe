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

// finalState is the final state of a scenario.
type finalState struct {
	// Jobs has the result of each job by its id.
	Jobs map[string]jobResult
	// Again counts the healthy jobs that were called once more because they ran
	// during the first call of a culprit; -1 if the number is random.
	Again int
	// Late are the jobs that were called in a process after one of its jobs had
	// crashed.
	Late []string
	// Lost counts the processes that ended by themselves, by their status.
	Lost map[string]int
	// Left counts the messages that are still in the queue.
	Left int
}

// jobResult is the result of a job.
type jobResult struct {
	// Calls counts its calls of the provider, without those that Again counts.
	// Effects counts the distinct keys of the calls: a call takes effect once
	// for a key.
	Calls, Effects int
	// Ledger describes its item: the status, and the crashes if there are any.
	Ledger string
	// Dead describes its dead letter, Stack is a part of the letter's stack.
	Dead, Stack string
}

var healthy = jobResult{Calls: 1, Effects: 1, Ledger: "COMPLETED"}

// atAnySpeed returns what must be equal even if the machine was so slow that
// runs were cancelled and writes failed: each job has its result, and took
// effect once. The number of calls, and the details in the ledger and the
// letter, can differ.
func (e finalState) atAnySpeed() finalState {
	jobs := map[string]jobResult{}
	for id, f := range e.Jobs {
		status, _, _ := strings.Cut(f.Ledger, " ")
		dead, _, _ := strings.Cut(f.Dead, " attempts")
		jobs[id] = jobResult{Effects: f.Effects, Ledger: status, Dead: dead}
	}
	return finalState{Jobs: jobs, Left: e.Left}
}

// finalState returns the final state of the scenario. The function must have ended.
func (r *run) finalState(ctx context.Context) (finalState, error) {
	letters, err := r.letters(ctx)
	if err != nil {
		return finalState{}, err
	}
	r.provider.mu.Lock() // calls of the last processes may still be recorded
	defer r.provider.mu.Unlock()
	e := finalState{Jobs: map[string]jobResult{}, Lost: maps.Clone(r.lost), Late: r.provider.late}
	for _, j := range r.jobs {
		f, again, err := r.jobResult(ctx, j, letters[j.body()])
		if err != nil {
			return finalState{}, err
		}
		e.Jobs[j.ID] = f
		e.Again += again
		delete(letters, j.body())
	}
	for body := range letters {
		e.Jobs["stray letter "+body] = jobResult{}
	}
	if r.setting.held < 0 && r.kills {
		e.Again = r.setting.held
	}
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
	if !j.culprit && len(calls) > 1 && r.fatal(calls[0]) && calls[1] != calls[0] {
		again = 1
	}
	f = jobResult{Calls: len(calls) - again, Effects: len(r.provider.effects[j.ID]), Ledger: ledgerText(out.Item, letters)}
	f.Dead, f.Stack = r.deadText(letters)
	return f, again, nil
}

// fatal reports whether a healthy job may have been ended by another job in the
// process: several jobs ran at the same time, and a culprit that kills ran
// there for the first time.
func (r *run) fatal(process string) bool {
	several := r.setting.concurrency > 1 || r.setting.invocations > 1
	first := slices.Collect(maps.Values(r.provider.first))
	return several && r.kills && slices.Contains(first, process)
}

// letters receives all messages of the dead-letter queue, by body.
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

// deadText describes the letters. stack is the expected part of the stack, if
// the letter has it.
func (r *run) deadText(letters []types.Message) (dead, stack string) {
	var all []string
	for _, m := range letters {
		record, err := dlq.Open(m)
		switch {
		case errors.Is(err, dlq.ErrNoRecord):
			all = append(all, "no record")
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

// ledgerText describes an item without the parts that differ between runs:
// times, names, and the number of claims. An innocent job has more claims the
// longer it waits for its turn.
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
