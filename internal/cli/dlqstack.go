package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// deployed is a stack in CloudFormation.
type deployed struct {
	account *Account
	client  *cloudformation.Client
	name    string
	outputs map[string]string
}

// describeStack reads the outputs of a stack.
func (a *Account) describeStack(ctx context.Context, name string) (*deployed, error) {
	c, err := a.config(ctx, "", "")
	if err != nil {
		return nil, err
	}
	d := &deployed{account: a, client: cloudformation.NewFromConfig(c), name: name, outputs: map[string]string{}}
	out, err := d.client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		return nil, a.explain(err, "CloudFormation", "", "--stack")
	}
	for _, stack := range out.Stacks {
		for _, o := range stack.Outputs {
			d.outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return d, nil
}

// ledgerOutput is the output with the name of the ledger.
const ledgerOutput = "LedgerTableName"

// deadLetterOutput is how the outputs with the URLs of dead-letter queues end, after the
// name of their function.
const deadLetterOutput = "DeadLetterQueueUrl"

// queue returns the URL of a queue of the stack: by an output, by the name of a function,
// or by the queue's logical id.
func (d *deployed) queue(ctx context.Context, name string) (string, error) {
	if strings.Contains(name, ":") { // a URL or an ARN
		return name, nil
	}
	for _, output := range []string{name, name + "Url", name + deadLetterOutput} {
		if url := d.outputs[output]; strings.Contains(url, "://") {
			return url, nil
		}
	}
	out, err := d.client.DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
		StackName: &d.name, LogicalResourceId: &name,
	})
	if err != nil {
		return "", fmt.Errorf("stack %s has no queue %s; its outputs name those of %s: %w", d.name, name,
			strings.Join(d.functions(), ", "), d.account.explain(err, "CloudFormation", "", "--stack"))
	}
	return aws.ToString(out.StackResourceDetail.PhysicalResourceId), nil
}

// functions returns the names of the functions whose dead-letter queues are in the outputs.
func (d *deployed) functions() []string {
	var names []string
	for _, output := range slices.Sorted(maps.Keys(d.outputs)) {
		if name, ok := strings.CutSuffix(output, deadLetterOutput); ok {
			names = append(names, name)
		}
	}
	return names
}
