package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQPause is the subcommand that disables the event source mappings of a queue.
type DLQPause struct{ mappingCommand }

// DLQResume is the subcommand that enables them.
type DLQResume struct{ mappingCommand }

// mappingCommand are the flags of both.
type mappingCommand struct {
	EndpointLambda string `name:"endpoint-lambda" placeholder:"URL" help:"Lambda of another engine; the local stack has none."` //nolint:lll // a struct tag is one line
	DLQTarget
	Queue string        `arg:"" help:"The source queue of the function, or its dead-letter queue."`
	Audit string        `placeholder:"FILE" help:"Append the audit line to this file, and not to standard error."`
	Why   string        `placeholder:"TEXT" help:"Why; it is written into the audit line."`
	Wait  time.Duration `default:"2m" help:"How long to wait until Lambda has done it (${default})."`
	JSON  bool          `name:"json" help:"Print one JSON object for each mapping."`
}

// Validate refuses an endpoint without Lambda.
func (m *mappingCommand) Validate() error {
	if !m.AWS && m.EndpointLambda == "" {
		return errors.New("the local stack has no event source mappings to pause: end sqsafe local; for AWS add --aws")
	}
	if err := m.check(m.EndpointLambda); err != nil {
		return err
	}
	return m.DLQTarget.Validate()
}

// Help returns the text below the flags.
func (p *DLQPause) Help() string {
	return dlqHelp + `

Lambda receives nothing more from the source queue, and batches that run go on to
their end. Jobs wait in the queue, and expire there: the command says when the
first does. Alarms on the age of messages are silent once SQS reports no metrics
any more, six hours after the last call.`
}

// Help returns the text below the flags.
func (p *DLQResume) Help() string { return dlqHelp }

// Run disables the mappings.
func (p *DLQPause) Run(ctx context.Context, streams Streams) error {
	return p.set(ctx, streams, false)
}

// Run enables the mappings.
func (p *DLQResume) Run(ctx context.Context, streams Streams) error {
	return p.set(ctx, streams, true)
}

// mappingRow is a mapping in the JSON output.
type mappingRow struct {
	Event    string `json:"event"`
	Queue    string `json:"queue"`
	UUID     string `json:"uuid"`
	Function string `json:"function"`
	State    string `json:"state"`
	// Expires is when the oldest job of the queue expires, as far as that is known.
	Expires time.Time `json:"expires,omitzero"`
}

// set enables or disables the mappings of the source queues, and waits until it is done.
func (m *mappingCommand) set(ctx context.Context, streams Streams, enabled bool) error {
	s, err := m.open(ctx, m.Queue)
	if err != nil {
		return err
	}
	client, err := m.lambdaClient(ctx, m.EndpointLambda)
	if err != nil {
		return err
	}
	sources := []*deadletters.Queue{s.Queue} // a queue with a redrive policy is a source itself
	if s.Target == "" {
		if sources, err = s.openSources(ctx); err != nil {
			return err
		}
	}
	found := 0
	for _, source := range sources {
		n, err := m.setAll(ctx, streams, client, source, enabled)
		if found += n; err != nil {
			return m.Account.explain(err, "Lambda", m.EndpointLambda, "--endpoint-lambda")
		}
	}
	if found == 0 {
		return fmt.Errorf("no event source mapping receives from the source queues of %s", s.Name)
	}
	action := map[bool]string{true: "dlq resume", false: "dlq pause"}[enabled]
	return (&Change{Audit: m.Audit}).audit(streams, auditLine{Action: action, Queue: s.ARN, Why: m.Why})
}

// openSources opens the queues whose dead-letter queue this is.
func (s *session) openSources(ctx context.Context) ([]*deadletters.Queue, error) {
	urls, err := s.Sources(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	var queues []*deadletters.Queue
	for _, url := range urls {
		q, err := deadletters.Open(ctx, s.Client(), url)
		if err != nil {
			return nil, s.target.explain(err, lastPart(url))
		}
		queues = append(queues, q)
	}
	return queues, nil
}

// setAll sets the mappings of a queue, and returns how many there are.
func (m *mappingCommand) setAll(
	ctx context.Context, streams Streams, client *lambda.Client, source *deadletters.Queue, enabled bool,
) (int, error) {
	mappings, err := listMappings(ctx, client, source.ARN)
	if err != nil {
		return 0, err
	}
	expires := m.expires(ctx, source)
	for i := range mappings {
		state, err := m.setOne(ctx, client, &mappings[i], enabled)
		if err != nil {
			return i, err
		}
		row := mappingRow{
			Event: "mapping", Queue: source.Name, UUID: aws.ToString(mappings[i].UUID),
			Function: functionName(aws.ToString(mappings[i].FunctionArn)), State: state, Expires: expires,
		}
		if m.JSON {
			_ = newEncoder(streams.Out).Encode(row)
			continue
		}
		fmt.Fprintf(streams.Out, "%s of %s from %s: %s\n", row.UUID, row.Function, row.Queue, strings.ToLower(state))
		if !enabled {
			fmt.Fprintln(streams.Out, expiryText(source, expires))
		}
	}
	return len(mappings), nil
}

func functionName(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) < 7 {
		return arn
	}
	return strings.Join(parts[6:], ":")
}

// setOne sets a mapping and waits until it is in its new state.
func (m *mappingCommand) setOne(
	ctx context.Context, client *lambda.Client, mapping *types.EventSourceMappingConfiguration, enabled bool,
) (string, error) {
	want := map[bool]string{true: "Enabled", false: "Disabled"}[enabled]
	state := aws.ToString(mapping.State)
	if state != want {
		out, err := client.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{
			UUID: mapping.UUID, Enabled: &enabled,
		})
		if err != nil {
			return state, err
		}
		state = aws.ToString(out.State)
	}
	for end := time.Now().Add(m.Wait); state != want && time.Now().Before(end); {
		timer := time.NewTimer(2 * time.Second)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return state, ctx.Err()
		}
		out, err := client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: mapping.UUID})
		if err != nil {
			return state, err
		}
		state = aws.ToString(out.State)
	}
	return state, nil
}

// expires returns when the oldest message of the queue expires; zero if that is not known.
func (m *mappingCommand) expires(ctx context.Context, source *deadletters.Queue) time.Time {
	client, err := m.watch(ctx)
	if err != nil {
		return time.Time{}
	}
	ages, err := oldestMessages(ctx, client, []string{source.Name})
	oldest, known := ages[source.Name]
	if err != nil || !known {
		return time.Time{}
	}
	return time.Now().Add(source.Retention - oldest).UTC()
}

func expiryText(source *deadletters.Queue, expires time.Time) string {
	if expires.IsZero() {
		return fmt.Sprintf("jobs of %s expire %s after they were sent; CloudWatch does not tell the age of the oldest",
			source.Name, age(source.Retention))
	}
	return fmt.Sprintf("the first job of %s expires %s", source.Name, moment(expires, time.Now()))
}
