package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/endpoint"
)

// LambdaTarget selects the Lambda whose event source mappings a command sees.
type LambdaTarget struct {
	EndpointLambda string `name:"endpoint-lambda" placeholder:"URL" help:"Lambda of another engine; that of SQS without it: a local stack has both."` //nolint:lll // a struct tag is one line
}

// lambdaClient returns a client of Lambda at the endpoint url; empty means none was given.
func (t *DLQTarget) lambdaClient(ctx context.Context, url string) (*lambda.Client, error) {
	if url == "" && !t.AWS {
		url = t.EndpointSQS
	}
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

// sourceMappings are the event source mappings of the source queues of a dead-letter queue,
// or of a source queue itself.
type sourceMappings struct {
	session  *session
	lambda   *LambdaTarget
	client   *lambda.Client
	sources  []*deadletters.Queue
	mappings map[*deadletters.Queue][]types.EventSourceMappingConfiguration
}

// mappings lists the mappings.
func (t *DLQTarget) mappings(ctx context.Context, s *session, to *LambdaTarget) (*sourceMappings, error) {
	m := &sourceMappings{
		session: s, lambda: to, sources: []*deadletters.Queue{s.Queue},
		mappings: map[*deadletters.Queue][]types.EventSourceMappingConfiguration{},
	}
	var err error
	if m.client, err = t.lambdaClient(ctx, to.EndpointLambda); err != nil {
		return nil, err
	}
	if s.Target == "" { // a queue with a redrive policy is a source itself
		if m.sources, err = s.openSources(ctx); err != nil {
			return nil, err
		}
	}
	for _, source := range m.sources {
		if m.mappings[source], err = listMappings(ctx, m.client, source.ARN); err != nil {
			return nil, m.explain(err)
		}
	}
	return m, nil
}

func (m *sourceMappings) explain(err error) error {
	t := m.session.target
	url := cmp.Or(m.lambda.EndpointLambda, t.EndpointSQS)
	if status, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok && !t.AWS && status.HTTPStatusCode() != http.StatusNotImplemented && m.lambda.EndpointLambda == "" {
		return fmt.Errorf("%s has no event source mappings; say with --endpoint-lambda where sqsafe local or another "+
			"Lambda is: %w", t.place(url), endpoint.Brief(err))
	}
	return t.Account.explain(err, "Lambda", url, "--endpoint-lambda")
}

// rows describes the mappings as they are.
func (m *sourceMappings) rows(ctx context.Context) []mappingRow {
	var rows []mappingRow
	for _, source := range m.sources {
		expires := m.session.target.expires(ctx, source)
		for i := range m.mappings[source] {
			rows = append(rows, newMappingRow(source, &m.mappings[source][i], expires))
		}
	}
	return rows
}

func newMappingRow(
	source *deadletters.Queue, mapping *types.EventSourceMappingConfiguration, expires time.Time,
) mappingRow {
	return mappingRow{
		Event: "mapping", Queue: source.Name, UUID: aws.ToString(mapping.UUID),
		Function: functionName(aws.ToString(mapping.FunctionArn)), State: aws.ToString(mapping.State), Expires: expires,
	}
}

// set enables or disables all mappings, waits up to that time until Lambda has done it, and
// calls told with each. It returns how many there are.
func (m *sourceMappings) set(
	ctx context.Context, enabled bool, wait time.Duration, told func(*deadletters.Queue, mappingRow),
) (int, error) {
	found := 0
	for _, source := range m.sources {
		expires := m.session.target.expires(ctx, source)
		for i := range m.mappings[source] {
			mapping := &m.mappings[source][i]
			state, err := m.setOne(ctx, mapping, enabled, wait)
			if err != nil {
				return found, m.explain(err)
			}
			found++
			mapping.State = &state
			told(source, newMappingRow(source, mapping, expires))
		}
	}
	return found, nil
}

// setOne sets a mapping and waits until it is in its new state.
func (m *sourceMappings) setOne(
	ctx context.Context, mapping *types.EventSourceMappingConfiguration, enabled bool, wait time.Duration,
) (string, error) {
	want := map[bool]string{true: "Enabled", false: "Disabled"}[enabled]
	state := aws.ToString(mapping.State)
	if state != want {
		out, err := m.client.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{
			UUID: mapping.UUID, Enabled: &enabled,
		})
		if err != nil {
			return state, err
		}
		state = aws.ToString(out.State)
	}
	const look = 2 * time.Second
	for end := time.Now().Add(wait); state != want && time.Now().Before(end); {
		timer := time.NewTimer(min(look, wait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return state, ctx.Err()
		}
		out, err := m.client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: mapping.UUID})
		if err != nil {
			return state, err
		}
		state = aws.ToString(out.State)
	}
	return state, nil
}

func functionName(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) < 7 {
		return arn
	}
	return strings.Join(parts[6:], ":")
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
// jobs. A queue without a mapping has another consumer. An engine that knows no mappings is
// asked once.
func (r *DLQReplay) paused(s *session, streams Streams, to *replay.Target) replay.Condition {
	unknown := false
	return func(ctx context.Context) (string, error) {
		if unknown {
			return "", nil
		}
		arns, err := r.sourceARNs(ctx, s, to)
		if err != nil {
			return "", s.explain(err)
		}
		client, err := r.lambdaClient(ctx, r.EndpointLambda)
		if err != nil {
			return "", err
		}
		for _, arn := range arns {
			found, err := listMappings(ctx, client, arn)
			if err != nil {
				if unknown = true; r.AWS {
					fmt.Fprintf(streams.Err, "whether a mapping is paused is not known: %v\n",
						r.Account.explain(err, "Lambda", "", "--aws"))
				}
				return "", nil // told, and no reason to stop
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
	return replay.Destinations(ctx, s.Queue)
}
