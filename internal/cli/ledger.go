package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Ledger is the group of subcommands for the ledger, the table of jobs.
type Ledger struct {
	Get    LedgerGet    `cmd:"" help:"Show what the table holds of a job."`
	List   LedgerList   `cmd:"" help:"List the jobs that the table holds."`
	Cancel LedgerCancel `cmd:"" help:"End a job that has not ended: its next delivery is dead-lettered, and not run."`
	Forget LedgerForget `cmd:"" help:"Delete a job from the table, so that its next message runs it again."`
}

// ledgerHelp is the help text below the flags of all ledger subcommands.
const ledgerHelp = `Without --table it is the only table there whose key is one attribute and whose
TTL attribute is "expiration". In AWS, name the table or the stack.`

// LedgerTarget selects the table of a command.
type LedgerTarget struct {
	EndpointDynamoDB string `name:"endpoint-dynamodb" placeholder:"URL" help:"DynamoDB of another engine; the local stack at ${local_endpoint} without it."` //nolint:lll // a struct tag is one line
	Account
	Stack string `placeholder:"NAME" help:"CloudFormation stack whose outputs name the table."`
	Table string `placeholder:"NAME" help:"Table of the jobs; with --aws this or --stack is required."`
	Queue string `placeholder:"QUEUE" help:"Name, URL or ARN of the jobs' queue."`
}

// Validate refuses flags that would have no effect.
func (t *LedgerTarget) Validate() error {
	switch {
	case t.AWS && t.Table == "" && t.Stack == "":
		return errors.New("which table? name it with --table or --stack; an AWS account is not searched for one")
	case t.Stack != "" && !t.AWS:
		return errors.New("--stack is for AWS itself; add --aws, or name the table")
	case t.Stack != "" && t.Table != "":
		return errors.New("give --table or --stack, not both")
	}
	if t.Queue != "" {
		if _, err := parseQueue(t.Queue); err != nil {
			return err
		}
	}
	return t.check(t.EndpointDynamoDB)
}

// String returns the name of the table's endpoint for errors.
func (t *LedgerTarget) String() string { return t.place(t.EndpointDynamoDB) }

// client returns a client for the table, whose name it asks a stack for.
func (t *LedgerTarget) client(ctx context.Context) (*dynamodb.Client, error) {
	if t.Stack != "" {
		stack, err := t.describeStack(ctx, t.Stack)
		if err != nil {
			return nil, err
		}
		if t.Table = stack.outputs[ledgerOutput]; t.Table == "" {
			return nil, fmt.Errorf("the outputs of stack %s do not have %s, the name of the table; name it with --table",
				t.Stack, ledgerOutput)
		}
	}
	queue, _ := parseQueue(t.Queue) // cannot fail: Validate has parsed it
	t.Queue = t.named(ctx, t.Queue)
	c, err := t.config(ctx, t.EndpointDynamoDB, queue.region)
	if err != nil {
		return nil, err
	}
	return dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		if t.EndpointDynamoDB != "" {
			o.BaseEndpoint = aws.String(t.EndpointDynamoDB) // overrides one in the environment
		}
	}), nil
}

// open opens the table.
func (t *LedgerTarget) open(ctx context.Context) (*ledger.Table, error) {
	client, err := t.client(ctx)
	if err != nil {
		return nil, err
	}
	if t.Table == "" {
		table, err := ledger.Find(ctx, client)
		return table, t.explain(err)
	}
	table, err := ledger.Open(ctx, client, t.Table)
	return table, t.explain(err)
}

// named returns the name of a queue that was given by its logical id, and any other text
// as it is.
func (t *LedgerTarget) named(ctx context.Context, queue string) string {
	if name, known := logicalID(ctx, t.String(), queue); !t.AWS && queue != "" && known {
		return name
	}
	return queue
}

// prefix returns the prefix of the ids of the queue's jobs; empty without a
// queue.
func (t *LedgerTarget) prefix() string {
	if t.Queue == "" {
		return ""
	}
	queue, _ := parseQueue(t.Queue) // cannot fail: Validate has parsed it
	return queue.name + "#"
}

// id returns the id of the job with this key. With a queue, key may also be the
// whole id.
func (t *LedgerTarget) id(key string) string {
	if strings.HasPrefix(key, t.prefix()) {
		return key
	}
	return t.prefix() + key
}

// find opens the table and reads a job, which must exist.
func (t *LedgerTarget) find(ctx context.Context, key string) (*ledger.Table, *ledger.Entry, error) {
	table, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	job, err := table.Get(ctx, t.id(key))
	if id, rest, ok := strings.Cut(key, "#"); ok && job == nil && err == nil && t.Queue == "" {
		job, err = table.Get(ctx, t.named(ctx, id)+"#"+rest)
	}
	switch {
	case err != nil:
		return nil, nil, t.explain(err)
	case job != nil:
		return table, job, nil
	}
	err = fmt.Errorf("there is no job %s in table %s at %s", oneLine(t.id(key)), table.Name, t)
	if t.Queue == "" && !strings.Contains(key, "#") {
		err = fmt.Errorf("%w; ids are QUEUE#KEY, so give the --queue too", err)
	}
	return nil, nil, err
}

// explain converts the error of a call into one for users; nil stays nil.
func (t *LedgerTarget) explain(err error) error {
	ambiguous, isAmbiguous := errors.AsType[*ledger.AmbiguousError](err)
	missing, isMissing := errors.AsType[*types.ResourceNotFoundException](err)
	switch {
	case err == nil:
		return nil
	case isAmbiguous:
		return fmt.Errorf("%w at %s; name the table with --table", ambiguous, t)
	case isMissing && missing != nil:
		return fmt.Errorf("there is no table %s at %s", t.Table, t)
	case errors.Is(err, ledger.ErrNoLedger):
		return err
	}
	return t.Account.explain(err, "DynamoDB", t.EndpointDynamoDB, "--endpoint-dynamodb")
}
