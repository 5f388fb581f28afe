package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/endpoint"
)

// resource is what a right is for.
type resource string

const (
	onQueue  resource = "queue"  // the dead-letter queue
	onSource resource = "source" // the source queues
	onTable  resource = "table"
	onAll    resource = "*" // actions that know no resource
	onKeys   resource = "keys"
)

// rights are the actions that a command needs, by resource.
type rights map[resource][]string

// add returns the rights of both.
func (r rights) add(more rights) rights {
	sum := rights{}
	for _, of := range []rights{r, more} {
		for on, actions := range of {
			sum[on] = append(sum[on], actions...)
		}
	}
	for on := range sum {
		slices.Sort(sum[on])
		sum[on] = slices.Compact(sum[on])
	}
	return sum
}

var (
	readRights = rights{
		onQueue: {
			"sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage",
		},
		onTable: {"dynamodb:BatchGetItem", "dynamodb:DescribeTable", "dynamodb:Scan"},
		onKeys:  {"kms:Decrypt"},
	}
	lockRights = rights{
		onQueue: {"sqs:ListMessageMoveTasks", "sqs:ListQueueTags", "sqs:TagQueue", "sqs:UntagQueue"},
	}
	// replayRights are also enough to archive and to discard.
	replayRights = readRights.add(lockRights).add(rights{
		onQueue:  {"sqs:DeleteMessage", "sqs:ListDeadLetterSourceQueues"},
		onSource: {"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"},
		onAll:    {"lambda:ListEventSourceMappings"},
		onKeys:   {"kms:GenerateDataKey"},
	})
	restoreRights = rights{
		onQueue: {"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"},
		onTable: {"dynamodb:DescribeTable"},
		onKeys:  {"kms:Decrypt", "kms:GenerateDataKey"},
	}
	redriveRights = lockRights.add(rights{
		onQueue: {
			"sqs:CancelMessageMoveTask", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl",
			"sqs:ListDeadLetterSourceQueues", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask",
		},
		onSource: {"sqs:SendMessage"},
		onTable:  {"dynamodb:DescribeTable"},
		onKeys:   {"kms:Decrypt", "kms:GenerateDataKey"},
	})
	pauseRights = rights{
		onQueue:  {"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues"},
		onSource: {"sqs:GetQueueAttributes"},
		onTable:  {"dynamodb:DescribeTable"},
		onAll: {
			"cloudwatch:GetMetricStatistics", "lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings",
			"lambda:UpdateEventSourceMapping",
		},
	}
	// dlqRights are the least rights for each subcommand.
	dlqRights = map[string]rights{
		"list":    readRights,
		"show":    readRights,
		"status":  readRights.add(rights{onQueue: {"sqs:ListMessageMoveTasks", "sqs:ListQueueTags"}}),
		"ui":      replayRights.add(restoreRights).add(redriveRights).add(pauseRights),
		"replay":  replayRights,
		"archive": readRights.add(rights{onQueue: {"sqs:DeleteMessage"}}),
		"discard": readRights.add(rights{onQueue: {"sqs:DeleteMessage"}}),
		"restore": restoreRights,
		"redrive": redriveRights,
		"pause":   pauseRights,
	}
)

// DLQPolicy is the subcommand that prints the least rights of the others.
type DLQPolicy struct {
	For    []string `arg:"" optional:"" name:"command" help:"Subcommands, such as list replay; all of them without any."`
	Queue  string   `placeholder:"ARN" help:"ARN of the dead-letter queue."`
	Source []string `placeholder:"ARN" help:"ARN of a source queue; may be given several times."`
	Table  string   `placeholder:"ARN" help:"ARN of the table."`
	Key    []string `placeholder:"ARN" help:"ARN of a KMS key with which a queue or the table is encrypted."`
}

// Help returns the text below the flags.
func (p *DLQPolicy) Help() string {
	return `An IAM policy with the least rights. Without ARNs it has placeholders; without
--key it has no rights for KMS. With --stack the commands also need
cloudformation:DescribeStacks and DescribeStackResource; with --stop-alarm and
--stop-age, cloudwatch:DescribeAlarms and GetMetricStatistics; with --logs, and
for the logs of ui, logs:FilterLogEvents; status and ui without names of queues,
sqs:ListQueues. For ui with --read-only those of list are enough.`
}

// Validate refuses commands that are not there.
func (p *DLQPolicy) Validate() error {
	for _, name := range p.For {
		if _, ok := dlqRights[alias(name)]; !ok {
			return fmt.Errorf("no command %q; there are %s", name, strings.Join(dlqCommands(), ", "))
		}
	}
	return nil
}

// alias returns the command that has the same rights.
func alias(name string) string {
	if name == "resume" {
		return "pause"
	}
	return name
}

func dlqCommands() []string {
	var names []string
	for name := range dlqRights {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// statement is a statement of an IAM policy.
type statement struct {
	Effect   string
	Action   []string
	Resource []string
}

// Run prints the policy.
func (p *DLQPolicy) Run(streams Streams) error {
	names := p.For
	if len(names) == 0 {
		names = dlqCommands()
	}
	sum := rights{}
	for _, name := range names {
		sum = sum.add(dlqRights[alias(name)])
	}
	either := func(given []string, placeholder string) []string {
		if len(given) == 0 || given[0] == "" {
			return []string{placeholder}
		}
		return given
	}
	resources := []struct {
		on   resource
		arns []string
	}{
		{onQueue, either([]string{p.Queue}, "arn:aws:sqs:REGION:ACCOUNT:DEAD-LETTER-QUEUE")},
		{onSource, either(p.Source, "arn:aws:sqs:REGION:ACCOUNT:SOURCE-QUEUE")},
		{onTable, either([]string{p.Table}, "arn:aws:dynamodb:REGION:ACCOUNT:table/LEDGER")},
		{onAll, []string{"*"}},
		{onKeys, p.Key},
	}
	policy := struct {
		Version   string
		Statement []statement
	}{Version: "2012-10-17"}
	for _, r := range resources {
		if len(sum[r.on]) > 0 && len(r.arns) > 0 {
			policy.Statement = append(policy.Statement, statement{"Allow", sum[r.on], r.arns})
		}
	}
	encoder := json.NewEncoder(streams.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(policy)
}

// iamServices are the prefixes of actions, by the id of the service in the SDK.
var iamServices = map[string]string{
	"SQS": "sqs", "DynamoDB": "dynamodb", "Lambda": "lambda", "CloudWatch": "cloudwatch",
	"CloudFormation": "cloudformation", "CloudWatch Logs": "logs",
}

// deniedAction returns the action that the error says is not allowed, or false for other
// errors. Actions on several entries have the rights of those on one.
func deniedAction(err error) (string, bool) {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return "", false
	}
	code := api.ErrorCode()
	if strings.Contains(strings.ToLower(code), "kms") {
		return "kms:Decrypt and kms:GenerateDataKey", strings.Contains(code, "Denied")
	}
	denied := strings.Contains(code, "AccessDenied") || code == "AuthorizationError" || code == "UnauthorizedOperation"
	op, ok := errors.AsType[*smithy.OperationError](err)
	if !ok || !denied {
		return "", false
	}
	if strings.Contains(api.ErrorMessage(), "kms:") {
		return "kms:Decrypt and kms:GenerateDataKey", true
	}
	name := op.OperationName
	if op.ServiceID == "SQS" {
		name = strings.TrimSuffix(name, "Batch")
	}
	return iamServices[op.ServiceID] + ":" + name, true
}

// denied adds to a refusal the action, the resource and the remedy; other errors stay.
func (s *session) denied(ctx context.Context, err, plain error) error {
	action, ok := deniedAction(err)
	if !ok {
		return plain
	}
	on := s.ARN
	switch {
	case strings.HasPrefix(action, "kms:"):
		on = "the key " + s.KMSKey
		if s.KMSKey == "" {
			on = "the key of the queue or of its source"
		}
	case action == "sqs:SendMessage" && s.Client() != nil:
		on = "the source queue"
		if urls, err := s.Sources(ctx); err == nil && len(urls) == 1 {
			on = strings.TrimSuffix(s.ARN, s.Name) + lastPart(urls[0])
		}
	case strings.HasPrefix(action, "dynamodb:"):
		on = "the table"
	}
	return fmt.Errorf("%w: these credentials need %s on %s; sqsafe dlq policy prints the rights of each command",
		plain, action, on)
}

// unlocked says that the queue could not be locked, and what that means. A server without
// tags is told too: the lock is missing all the same.
func (s *session) unlocked(streams Streams, denied error) {
	why := oneLine(endpoint.Brief(denied).Error())
	if action, ok := deniedAction(denied); ok {
		why = fmt.Sprintf("these credentials need %s on %s", action, s.ARN)
	}
	fmt.Fprintf(streams.Err, "not locked: nothing keeps a second replay of %s away; see that nobody else runs one: %s\n",
		s.Name, why)
}
