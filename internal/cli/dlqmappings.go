package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// lambdaClient returns a client of Lambda at the endpoint url; empty means none was given.
func (t *DLQTarget) lambdaClient(ctx context.Context, url string) (*lambda.Client, error) {
	c, err := t.config(ctx, url, "")
	if err != nil {
		return nil, err
	}
	return lambda.NewFromConfig(c, func(o *lambda.Options) {
		if url != "" {
			o.BaseEndpoint = aws.String(url) // overrides one in the environment
		}
	}), nil
}

// listMappings returns the event source mappings of a queue.
func listMappings(
	ctx context.Context, client *lambda.Client, arn string,
) ([]types.EventSourceMappingConfiguration, error) {
	var all []types.EventSourceMappingConfiguration
	pages := lambda.NewListEventSourceMappingsPaginator(client, &lambda.ListEventSourceMappingsInput{EventSourceArn: &arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.EventSourceMappings...)
	}
	return all, nil
}

// paused stops when all mappings of a source queue are disabled: nobody would run the
// jobs. A queue without a mapping has another consumer.
func (r *DLQReplay) paused(s *session, streams Streams, to *replay.Target) replay.Condition {
	var once sync.Once
	return func(ctx context.Context) (string, error) {
		arns, err := r.sourceARNs(ctx, s, to)
		if err != nil {
			return "", s.explain(err)
		}
		client, err := r.lambdaClient(ctx, "")
		if err != nil {
			return "", err
		}
		for _, arn := range arns {
			found, err := listMappings(ctx, client, arn)
			if err != nil {
				once.Do(func() {
					fmt.Fprintf(streams.Err, "whether a mapping is paused is not known: %v\n",
						r.Account.explain(err, "Lambda", "", "--aws"))
				})
				return "", nil //nolint:nilerr // told, and no reason to stop
			}
			running := len(found) == 0
			for i := range found {
				state := aws.ToString(found[i].State)
				running = running || state != "Disabled" && state != "Disabling"
			}
			if !running {
				return "the function of " + lastPart(arn) + " is paused; sqsafe dlq resume starts it", nil
			}
		}
		return "", nil
	}
}

// sourceARNs returns the ARNs of the queues that get the letters.
func (r *DLQReplay) sourceARNs(ctx context.Context, s *session, to *replay.Target) ([]string, error) {
	if to != nil {
		return []string{to.ARN}, nil
	}
	urls, err := s.Sources(ctx)
	if err != nil {
		return nil, err
	}
	arns := make([]string, len(urls))
	for i, url := range urls {
		// A dead-letter queue and its sources are of one account and region.
		arns[i] = s.ARN[:len(s.ARN)-len(s.Name)] + lastPart(url)
	}
	return arns, nil
}
