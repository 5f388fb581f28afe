package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQPause is the subcommand that disables the event source mappings of a queue.
type DLQPause struct{ mappingCommand }

// DLQResume is the subcommand that enables them.
type DLQResume struct{ mappingCommand }

// mappingCommand are the flags of both.
type mappingCommand struct {
	LambdaTarget
	DLQTarget
	Queue string        `arg:"" help:"The source queue of the function, or its dead-letter queue."`
	Audit string        `placeholder:"FILE" help:"Append the audit line to this file, and not to standard error."`
	Why   string        `placeholder:"TEXT" help:"Why; it is written into the audit line."`
	Wait  time.Duration `default:"2m" help:"How long to wait until Lambda has done it (${default})."`
	JSON  bool          `name:"json" help:"Print one JSON object for each mapping."`
}

// Validate refuses flags that would have no effect.
func (m *mappingCommand) Validate() error {
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
	mappings, err := m.mappings(ctx, s, &m.LambdaTarget)
	if err != nil {
		return err
	}
	found, err := mappings.set(ctx, enabled, m.Wait, func(source *deadletters.Queue, row mappingRow) {
		if m.JSON {
			_ = newEncoder(streams.Out).Encode(row)
			return
		}
		fmt.Fprintf(streams.Out, "%s of %s from %s: %s\n", row.UUID, row.Function, row.Queue, strings.ToLower(row.State))
		if !enabled {
			fmt.Fprintln(streams.Out, expiryText(source, row.Expires))
		}
	})
	if err != nil {
		return err
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

func expiryText(source *deadletters.Queue, expires time.Time) string {
	if expires.IsZero() {
		return fmt.Sprintf("jobs of %s expire %s after they were sent; the age of the oldest is not known",
			source.Name, age(source.Retention))
	}
	return fmt.Sprintf("the first job of %s expires %s", source.Name, moment(expires, time.Now()))
}
