package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/local"
)

// Queues is the subcommand that shows the number of messages in queues.
type Queues struct {
	Target
	JSON bool `name:"json" help:"Print one JSON object for each queue."`
}

// Help returns the text below the flags.
func (q *Queues) Help() string {
	return `Counts are those of GetQueueAttributes, which are approximate in AWS.
The age of the oldest message is known of a local stack only: AWS has it in
CloudWatch (ApproximateAgeOfOldestMessage), and other engines do not tell.`
}

// queueRow is a queue in the output.
type queueRow struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Visible  int    `json:"visible"`
	InFlight int    `json:"inFlight"`
	Delayed  int    `json:"delayed"`
	// Oldest is the age of the oldest message in seconds; nil if there is no
	// message or the age is not known.
	Oldest          *float64 `json:"oldestSeconds"`
	DeadLetterQueue string   `json:"deadLetterQueue,omitempty"`
	MaxReceives     int      `json:"maxReceiveCount,omitempty"`
}

// Run lists the queues, sorted by name.
func (q *Queues) Run(ctx context.Context, streams Streams) error {
	client, err := q.client(ctx, "")
	if err != nil {
		return err
	}
	urls, err := listQueues(ctx, client)
	if err != nil {
		return q.explain(err, "")
	}
	rows, err := describeQueues(ctx, client, urls)
	if err != nil {
		return q.explain(err, "")
	}
	q.addAges(ctx, rows)
	if q.JSON {
		encoder := newEncoder(streams.Out)
		for _, row := range rows {
			_ = encoder.Encode(row)
		}
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintf(streams.Out, "no queues at %s\n", q)
		return nil
	}
	fmt.Fprintln(streams.Out, queueTable(streams.Out, rows))
	return nil
}

func listQueues(ctx context.Context, client *sqs.Client) ([]string, error) {
	var urls []string
	pages := sqs.NewListQueuesPaginator(client, &sqs.ListQueuesInput{MaxResults: aws.Int32(1000)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		urls = append(urls, page.QueueUrls...)
	}
	return urls, nil
}

// parallelCalls is the maximum number of concurrent calls.
const parallelCalls = 8

func describeQueues(ctx context.Context, client *sqs.Client, urls []string) ([]queueRow, error) {
	rows, errs := make([]*queueRow, len(urls)), make([]error, len(urls))
	slots := make(chan struct{}, parallelCalls)
	var calls sync.WaitGroup
	for i, url := range urls {
		slots <- struct{}{}
		calls.Go(func() {
			rows[i], errs[i] = describeQueue(ctx, client, url)
			<-slots
		})
	}
	calls.Wait()
	var there []queueRow
	for _, row := range rows {
		if row != nil {
			there = append(there, *row)
		}
	}
	slices.SortFunc(there, func(a, b queueRow) int { return strings.Compare(a.Name, b.Name) })
	return there, errors.Join(errs...)
}

// describeQueue returns nil for a queue that was deleted in the meantime.
func describeQueue(ctx context.Context, client *sqs.Client, url string) (*queueRow, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(url), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		if gone, ok := errors.AsType[*types.QueueDoesNotExist](err); ok && gone != nil {
			err = nil
		}
		return nil, err
	}
	number := func(name types.QueueAttributeName) int {
		n, _ := strconv.Atoi(out.Attributes[string(name)]) // a count that the server does not have is 0
		return n
	}
	row := &queueRow{
		Name: url[strings.LastIndexByte(url, '/')+1:], URL: url,
		Visible:  number(types.QueueAttributeNameApproximateNumberOfMessages),
		InFlight: number(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		Delayed:  number(types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
	}
	row.readPolicy(out.Attributes[string(types.QueueAttributeNameRedrivePolicy)])
	return row, nil
}

func (r *queueRow) readPolicy(text string) {
	var policy struct {
		Target string `json:"deadLetterTargetArn"`
		Max    any    `json:"maxReceiveCount"` // some servers return it as a string
	}
	if json.Unmarshal([]byte(text), &policy) != nil {
		return // the queue has no redrive policy
	}
	r.DeadLetterQueue = policy.Target[strings.LastIndexByte(policy.Target, ':')+1:]
	r.MaxReceives, _ = strconv.Atoi(fmt.Sprint(policy.Max))
}

// addAges asks a local stack for the ages of messages. They may be a moment younger than
// the counts: a queue that holds none by its counts has no age.
func (q *Queues) addAges(ctx context.Context, rows []queueRow) {
	if q.AWS {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	oldest, err := local.Oldest(ctx, q.place(q.EndpointSQS))
	if err != nil {
		return
	}
	for i := range rows {
		row := &rows[i]
		at, known := oldest[row.Name]
		if known && row.Visible+row.InFlight+row.Delayed > 0 {
			seconds := time.Since(at).Round(time.Millisecond).Seconds()
			row.Oldest = &seconds
		}
	}
}
