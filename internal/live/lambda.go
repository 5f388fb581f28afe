package live

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/sqsafe/sqsafe/internal/check"
)

// functions reads mappings, functions and the limit of the account.
func (r *reader) functions(ctx context.Context) error {
	invoked := map[string]string{} // alias or version by function
	for _, m := range r.of("AWS::Lambda::EventSourceMapping") {
		out, err := r.lambda.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: aws.String(m.physical)})
		if err != nil {
			return err
		}
		if !strings.Contains(aws.ToString(out.EventSourceArn), ":sqs:") {
			continue
		}
		name, qualifier := functionOf(aws.ToString(out.FunctionArn))
		invoked[name] = qualifier
		live := check.LiveMapping{
			ID: m.id, Queue: aws.ToString(out.EventSourceArn), Function: name,
			State: aws.ToString(out.State), Result: aws.ToString(out.LastProcessingResult),
		}
		for _, t := range out.FunctionResponseTypes {
			live.Reports = live.Reports || t == types.FunctionResponseTypeReportBatchItemFailures
		}
		if out.FilterCriteria != nil {
			live.Filters = len(out.FilterCriteria.Filters)
		}
		if out.ScalingConfig != nil {
			live.MaxConcurrency = int(aws.ToInt32(out.ScalingConfig.MaximumConcurrency))
		}
		r.stack.Live.Mappings = append(r.stack.Live.Mappings, live)
	}
	for _, f := range r.of("AWS::Lambda::Function") {
		if qualifier, ok := invoked[f.physical]; ok {
			if err := r.function(ctx, f, qualifier); err != nil {
				return err
			}
		}
	}
	out, err := r.lambda.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err == nil && out.AccountLimit != nil {
		r.stack.Live.Executions = int(out.AccountLimit.ConcurrentExecutions)
	}
	return err
}

// function reads the variables of a function, and those of the version that its
// mapping invokes.
func (r *reader) function(ctx context.Context, f resource, qualifier string) error {
	live := check.LiveFunction{ID: f.id, Alias: qualifier}
	var err error
	if live.Variables, err = r.variables(ctx, f.physical, ""); err != nil {
		return err
	}
	if qualifier != "" {
		if live.Running, err = r.variables(ctx, f.physical, qualifier); err != nil {
			return err
		}
	}
	if table := live.Variables["SQSAFE_TABLE"]; table != "" {
		r.ledgers = append(r.ledgers, table)
	}
	r.stack.Live.Functions = append(r.stack.Live.Functions, live)
	return nil
}

func (r *reader) variables(ctx context.Context, function, qualifier string) (map[string]string, error) {
	in := &lambda.GetFunctionConfigurationInput{FunctionName: &function}
	if qualifier != "" {
		in.Qualifier = &qualifier
	}
	out, err := r.lambda.GetFunctionConfiguration(ctx, in)
	if err != nil {
		return nil, err
	}
	if out.Environment == nil {
		return map[string]string{}, nil
	}
	return out.Environment.Variables, nil
}

// functionOf returns the name of a function and its alias or version, of an ARN.
func functionOf(arn string) (name, qualifier string) {
	_, rest, _ := strings.Cut(arn, ":function:")
	name, qualifier, _ = strings.Cut(rest, ":")
	return name, qualifier
}

// strangers returns the functions that a queue invokes and that are not of the
// stack.
func (r *reader) strangers(ctx context.Context, queue string) ([]string, error) {
	known := map[string]bool{}
	for _, f := range r.of("AWS::Lambda::Function") {
		known[f.physical] = true
	}
	var list []string
	pages := lambda.NewListEventSourceMappingsPaginator(r.lambda,
		&lambda.ListEventSourceMappingsInput{EventSourceArn: &queue})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range page.EventSourceMappings {
			if name, _ := functionOf(aws.ToString(m.FunctionArn)); !known[name] && aws.ToString(m.State) != "Disabled" {
				list = append(list, name)
			}
		}
	}
	return list, nil
}
