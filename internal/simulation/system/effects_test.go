package system

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// steps is the work of a job in parts.
func (p *process) steps(ctx context.Context, j *job, parts int) error {
	for n := range parts {
		name := fmt.Sprintf("part%d", n)
		err := idem.Step(ctx, name, func(ctx context.Context) error {
			p.judge.stepped(p, j, name)
			return p.effect(ctx, j, j.name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stepped takes in that a part of a job runs.
func (j *judge) stepped(p *process, job *job, step string) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.w.noteLocked(p.name, []string{job.name}, "STEP %s of %s", step, job.name)
	if j.state(job.name).recorded[step] && !j.w.on[failOpen] {
		j.w.breaksLocked("one step", []string{job.name}, "%s of %s runs again after it was recorded", step, job.name)
	}
}

// transact writes effect and completion in one transaction.
func (p *process) transact(ctx context.Context, j *job) error {
	completion, err := dynamo.Completion(ctx)
	if errors.Is(err, dynamo.ErrNoClaim) && p.on[failOpen] {
		return p.effect(ctx, j, idem.Key(ctx))
	}
	if err != nil {
		return err
	}
	effect := dbtypes.TransactWriteItem{Put: &dbtypes.Put{
		TableName: aws.String(effectsTable),
		Item:      map[string]dbtypes.AttributeValue{"id": &dbtypes.AttributeValueMemberS{Value: j.name}},
	}}
	ctx = p.named(ctx, "transact", idem.CompletionOf(ctx).Claim())
	_, err = dynamo.NewTransactor(p.db).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []dbtypes.TransactWriteItem{effect, completion},
	})
	return err
}
