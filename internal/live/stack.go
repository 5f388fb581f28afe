package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	formation "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/check"
)

// Stack is a deployed stack.
type Stack struct {
	// Template is what CloudFormation deploys, after SAM and other transforms.
	Template []byte
	// Parameters are the values that the stack was deployed with, without those
	// that are hidden.
	Parameters map[string]string
	Live       check.Live
}

// Read reads a stack. It needs the rights to describe what is in it, which the
// policy ReadOnlyAccess has. Errors are [*Error].
func Read(ctx context.Context, c aws.Config, name string) (*Stack, error) {
	r := &reader{
		formation: cloudformation.NewFromConfig(c), lambda: lambda.NewFromConfig(c), sqs: sqs.NewFromConfig(c),
		cloudwatch: cloudwatch.NewFromConfig(c), sns: sns.NewFromConfig(c), dynamodb: dynamodb.NewFromConfig(c),
		stack: &Stack{Parameters: map[string]string{}, Live: check.Live{Name: name}},
	}
	steps := []struct {
		service string
		read    func(context.Context) error
	}{
		{"CloudFormation", r.describe}, {"Lambda", r.functions}, {"SQS", r.queues}, {"CloudWatch", r.alarms},
		{"SNS", r.topics}, {"DynamoDB", r.tables},
	}
	for _, step := range steps {
		if err := step.read(ctx); err != nil {
			return nil, &Error{Service: step.service, Err: err}
		}
	}
	return r.stack, nil
}

// Error says which service refused or was not reached.
type Error struct {
	Service string
	Err     error
}

// Error names the service and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Service, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// reader reads one stack. What one step finds out the later ones use.
type reader struct {
	formation  *cloudformation.Client
	lambda     *lambda.Client
	sqs        *sqs.Client
	cloudwatch *cloudwatch.Client
	sns        *sns.Client
	dynamodb   *dynamodb.Client

	stack     *Stack
	resources []resource
	topicARNs []string // that alarms notify
	ledgers   []string // names of tables that functions name
}

// resource is a resource of the stack that exists.
type resource struct{ id, kind, physical string }

// errNoStack says that the answer holds no stack.
var errNoStack = errors.New("there is no such stack in this account and region")

func (r *reader) describe(ctx context.Context) error {
	name := &r.stack.Live.Name
	out, err := r.formation.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	if err != nil {
		return err
	}
	if len(out.Stacks) != 1 {
		return errNoStack
	}
	for _, p := range out.Stacks[0].Parameters {
		value := aws.ToString(p.ParameterValue)
		if p.ResolvedValue != nil {
			value = *p.ResolvedValue
		}
		if value != "****" { // NoEcho
			r.stack.Parameters[aws.ToString(p.ParameterKey)] = value
		}
	}
	template, err := r.formation.GetTemplate(ctx, &cloudformation.GetTemplateInput{
		StackName: name, TemplateStage: formation.TemplateStageProcessed,
	})
	if err != nil {
		return err
	}
	r.stack.Template = []byte(aws.ToString(template.TemplateBody))
	pages := cloudformation.NewListStackResourcesPaginator(r.formation,
		&cloudformation.ListStackResourcesInput{StackName: name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, s := range page.StackResourceSummaries {
			if s.PhysicalResourceId != nil {
				r.resources = append(r.resources, resource{
					aws.ToString(s.LogicalResourceId), aws.ToString(s.ResourceType), *s.PhysicalResourceId,
				})
			}
		}
	}
	return nil
}

// of returns the resources of a type.
func (r *reader) of(kind string) []resource {
	var list []resource
	for _, one := range r.resources {
		if one.kind == kind {
			list = append(list, one)
		}
	}
	return list
}
