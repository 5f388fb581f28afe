package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// DLQ is the group of subcommands for dead-letter queues.
type DLQ struct {
	Status  DLQStatus  `cmd:"" help:"Sum dead-letter queues up; the exit code says whether there are letters."`
	List    DLQList    `cmd:"" help:"Show the dead letters of a queue, grouped by failure."`
	Show    DLQShow    `cmd:"" help:"Show one dead letter: payload, error, attempts, and its job in the ledger."`
	Replay  DLQReplay  `cmd:"" help:"Send dead letters back, in their order; without --yes, print the plan."`
	Archive DLQArchive `cmd:"" help:"Move dead letters into a file, byte for byte."`
	Restore DLQRestore `cmd:"" help:"Send the letters of a file into a dead-letter queue."`
	Discard DLQDiscard `cmd:"" help:"Archive dead letters and delete them, with a reason."`
	Prune   DLQPrune   `cmd:"" help:"Delete archives whose time is over."`
	Redrive DLQRedrive `cmd:"" help:"Let SQS move all letters back, and follow it."`
	Pause   DLQPause   `cmd:"" help:"Stop the function: disable its event source mapping."`
	Policy  DLQPolicy  `cmd:"" help:"Print the least rights of these commands as an IAM policy."`
	Resume  DLQResume  `cmd:"" help:"Start the function again: enable its event source mapping."`
	UI      DLQUI      `cmd:"" name:"ui" help:"Show the dead letters in a page on this machine, and replay them there."`
}

// dlqHelp is the help text below the flags of the dlq subcommands.
const dlqHelp = `QUEUE is the dead-letter queue: a name, a URL, an ARN or the logical id of a
template. With --stack it may also be the name of a function, as in the outputs
of the stack. The ledger is the only table there that looks like one, or the
--table, or that of the --stack.

To look at a letter hides it from others for a moment, and counts as a receive.`

// DLQTarget selects the queue and the table of a command.
type DLQTarget struct {
	EndpointDynamoDB string `name:"endpoint-dynamodb" placeholder:"URL" help:"DynamoDB of another engine; the URL of --endpoint-sqs without it."` //nolint:lll // a struct tag is one line
	Target
	Stack         string `placeholder:"NAME" help:"CloudFormation stack whose outputs name queues and table."`
	Table         string `placeholder:"NAME" help:"Table of the jobs."`
	Ledger        bool   `default:"true" negatable:"" help:"Ask the ledger what it knows of the jobs."`
	SpendReceives bool   `help:"Look also into a queue with a redrive policy of its own, where each look counts."`
}

// Validate refuses flags that would have no effect.
func (t *DLQTarget) Validate() error {
	if t.Stack != "" && !t.AWS {
		return errors.New("--stack is for AWS itself; add --aws, or name the queue")
	}
	if err := t.check(t.EndpointDynamoDB); err != nil {
		return err
	}
	return t.Target.Validate()
}

// session is a queue and the ledger of its jobs.
type session struct {
	*deadletters.Queue
	target *DLQTarget
	// table is nil if there is no ledger; noTable says why.
	table   *ledger.Table
	noTable string
}

// open finds the queue and the table.
func (t *DLQTarget) open(ctx context.Context, name string) (*session, error) {
	table := t.Table
	if t.Stack != "" {
		stack, err := t.describeStack(ctx, t.Stack)
		if err != nil {
			return nil, err
		}
		if name, err = stack.queue(ctx, name); err != nil {
			return nil, err
		}
		if table == "" {
			table = stack.outputs[ledgerOutput]
		}
	}
	found, client, err := t.findQueue(ctx, name)
	if err != nil {
		return nil, err
	}
	q, err := deadletters.Open(ctx, client, found.URL)
	if err != nil {
		s := &session{Queue: &deadletters.Queue{Name: found.Name, ARN: "queue " + found.Name}, target: t}
		return nil, s.denied(ctx, err, t.explain(err, name))
	}
	s := &session{Queue: q, target: t}
	s.openTable(ctx, table)
	return s, nil
}

// findQueue returns the queue with that name, or the only one whose name contains it as
// the logical id of a template.
func (t *DLQTarget) findQueue(ctx context.Context, name string) (jobfile.Queue, *sqs.Client, error) {
	found, client, err := t.find(ctx, name)
	if err == nil || !errors.As(err, new(*noQueueError)) {
		return found, client, err
	}
	client, clientErr := t.client(ctx, "")
	if clientErr != nil {
		return found, nil, clientErr
	}
	urls, listErr := listQueues(ctx, client)
	if listErr != nil {
		return found, nil, err // not allowed to list: the queue is not there by its name
	}
	urls = slices.DeleteFunc(urls, func(url string) bool { return !hasLogicalID(url, name) })
	switch len(urls) {
	case 0:
		return found, nil, err
	case 1:
		return jobfile.Queue{Name: lastPart(urls[0]), URL: urls[0]}, client, nil
	}
	for i := range urls {
		urls[i] = lastPart(urls[i])
	}
	return found, nil, fmt.Errorf("%d queues at %s have %s in their names: %s; give the whole name",
		len(urls), t, name, strings.Join(urls, ", "))
}

func lastPart(url string) string { return url[strings.LastIndexAny(url, "/:")+1:] }

// hasLogicalID reports whether CloudFormation may have made the queue's name from the
// logical id: STACK-ID-RANDOM.
func hasLogicalID(url, id string) bool {
	parts := strings.Split(strings.TrimSuffix(lastPart(url), ".fifo"), "-")
	return len(parts) >= 3 && parts[len(parts)-2] == id
}

// openTable opens the ledger. Without one the command works, and knows less.
func (s *session) openTable(ctx context.Context, name string) {
	t := s.target
	switch {
	case !t.Ledger:
		s.noTable = notAsked
		return
	case t.AWS && name == "":
		s.noTable = "name its table with --table or --stack"
		return
	}
	url := t.EndpointDynamoDB
	if url == "" {
		url = t.EndpointSQS
	}
	c, err := t.config(ctx, url, "")
	if err != nil {
		s.noTable = err.Error()
		return
	}
	client := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		if url != "" {
			o.BaseEndpoint = aws.String(url) // overrides one in the environment
		}
	})
	if name == "" {
		s.table, err = ledger.Find(ctx, client)
	} else {
		s.table, err = ledger.Open(ctx, client, name)
	}
	if err != nil {
		plain := (&LedgerTarget{EndpointDynamoDB: url, Account: t.Account, Table: name}).explain(err)
		s.table, s.noTable = nil, s.denied(ctx, err, plain).Error()
	}
}

// letters reads the queue and returns the letters that match. With whole they have their
// messages.
func (s *session) letters(
	ctx context.Context, streams Streams, filter *deadletters.Filter, whole bool,
) ([]*deadletters.Letter, *deadletters.Reading, error) {
	var letters []*deadletters.Letter
	line := newProgress(streams.Err, "reading "+s.Name, s.Count.Visible)
	defer line.clear()
	reading, err := s.Read(ctx, deadletters.ReadOptions{
		SpendReceives: s.target.SpendReceives, Observe: func(read int) { line.steps(read - line.done) },
	}, func(m *deadletters.Message) bool {
		l := deadletters.Decode(s.Queue, m)
		if filter.Match(l) {
			if !whole {
				l = l.Slim()
			}
			letters = append(letters, l)
		}
		return true
	})
	if err != nil {
		return nil, nil, s.explain(err)
	}
	return letters, reading, nil
}

// notAsked is why there is no ledger if the user wants none.
const notAsked = "not asked"

// join asks the ledger about the letters. Its failure is told and is none of the command.
func (s *session) join(ctx context.Context, streams Streams, letters []*deadletters.Letter) {
	if len(letters) == 0 || s.noTable == notAsked {
		return
	}
	if s.table != nil {
		err := deadletters.Join(ctx, s.table, letters, deadletters.JoinOptions{})
		if err == nil || ctx.Err() != nil {
			return
		}
		target := LedgerTarget{EndpointDynamoDB: s.target.EndpointDynamoDB, Account: s.target.Account}
		s.noTable = s.denied(ctx, err, target.explain(err)).Error()
	}
	fmt.Fprintf(streams.Err, "the ledger cannot be asked: %s\n", oneLine(s.noTable))
}

// explain converts an error of the queue into one for users.
func (s *session) explain(err error) error {
	if own, ok := errors.AsType[*deadletters.OwnPolicyError](err); ok {
		return fmt.Errorf("%w; if that is the dead-letter queue you mean, name it, or add --spend-receives", own)
	}
	return s.denied(context.Background(), err, s.target.explain(err, s.Name))
}

// notices prints what a reading did not show.
func notices(out io.Writer, s *session, r *deadletters.Reading) {
	if r.Behind > 0 && s.FIFO {
		fmt.Fprintf(out, "about %s behind these in their groups: SQS shows ten of a group at most, "+
			"until they are deleted\n", deadletters.Number(r.Behind, "more stands", "more stand"))
	} else if r.Behind > 0 {
		fmt.Fprintf(out, "about %s not shown; run it again\n",
			deadletters.Number(r.Behind, "more came meanwhile or was", "more came meanwhile or were"))
	}
	if r.Hidden > 0 {
		fmt.Fprintf(out, "about %s hidden: somebody else looks at the queue or sends letters back\n",
			deadletters.Number(r.Hidden, "letter is", "letters are"))
	}
}

// noQueueError says that a queue does not exist.
type noQueueError struct {
	name, place string
	cause       *types.QueueDoesNotExist
}

// Error names the queue and the remedy.
func (e *noQueueError) Error() string {
	return fmt.Sprintf("there is no queue %s at %s; sqsafe queues lists those that are there", e.name, e.place)
}

func (e *noQueueError) Unwrap() error { return e.cause }
