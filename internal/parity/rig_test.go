//go:build unix

package parity_test

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/template"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// rig is what a host runs on: the queues and the ledger of all scenarios, and
// the provider of their jobs. The server outlives the host, so that all is there
// to be looked at in the end.
type rig struct {
	binary   string
	trials   []trial
	provider *provider
	server   *localaws.Server
	endpoint string
	template string // its path
	stack    *stack.Stack
	sqs      *sqs.Client
	dynamodb *dynamodb.Client

	mu       sync.Mutex
	jobs     map[string]place // by message id
	outcomes map[place][]string
	crashes  map[string]int // by queue
	open     int            // messages of scenarios that end by themselves
	quiet    chan struct{}  // closed when there are none left
}

// trial is a scenario on one kind of queue. Its methods are what the template
// asks for.
type trial struct {
	scenario
	kind kind
}

// ID is the logical id of the queue.
func (t trial) ID() string { return t.name + strings.ToUpper(string(t.kind[:1])) + string(t.kind[1:]) }

// Queue is the queue's name.
func (t trial) Queue() string {
	if t.FIFO() {
		return t.ID() + ".fifo"
	}
	return t.ID()
}

func (t trial) FIFO() bool { return t.kind == fifo }

func (t trial) Timeout() int { return t.timeout }

func (t trial) Visibility() int { return t.visibility }

func (t trial) Receives() int {
	if t.receives == 0 {
		return 10
	}
	return t.receives
}

func (t trial) Answer() string { return t.answer }

// comparable leaves out what is a matter of chance.
func (t trial) comparable(e ending) ending {
	jobs := maps.Clone(e.Jobs)
	for _, id := range t.chance[t.kind] {
		jobs[id] = jobs[id].inTheEnd()
	}
	e.Jobs = jobs
	return e
}

func trials() []trial {
	var all []trial
	for _, s := range scenarios {
		for _, k := range []kind{standard, fifo} {
			if s.on == nil || slices.Contains(s.on, k) {
				all = append(all, trial{s, k})
			}
		}
	}
	return all
}

// place names a job.
type place struct{ trial, job string }

// outcome is what a function's log says about a delivery.
type outcome struct {
	Line      string `json:"message"`
	MessageID string `json:"messageId"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Attempt   int    `json:"attempt"`
}

func (o outcome) String() string {
	text := o.Outcome
	if o.Reason != "" {
		text += " " + o.Reason
	}
	if o.Attempt > 0 {
		text += " " + strconv.Itoa(o.Attempt)
	}
	return text
}

func newRig(t *testing.T, binary string) *rig {
	t.Helper()
	r := &rig{
		binary: binary, trials: trials(), provider: newProvider(),
		jobs: map[string]place{}, outcomes: map[place][]string{}, crashes: map[string]int{},
		quiet: make(chan struct{}),
	}
	r.server = localaws.New(&localaws.Options{Observe: r.observe})
	engine, provider := httptest.NewServer(r.server), httptest.NewServer(r.provider)
	for _, s := range []*httptest.Server{engine, provider} {
		t.Cleanup(s.Close)
		t.Cleanup(s.CloseClientConnections)
	}
	r.endpoint = engine.URL
	config := localtest.Config(r.server)
	r.sqs, r.dynamodb = sqs.NewFromConfig(config), dynamodb.NewFromConfig(config)
	if err := r.readStack(t.TempDir(), provider.URL); err != nil {
		t.Fatal(err)
	}
	return r
}

//go:embed testdata/stack.yaml.tmpl
var templateText string

// readStack writes the template and reads it.
func (r *rig) readStack(folder, provider string) error {
	code, err := filepath.Abs("function")
	if err != nil {
		return err
	}
	r.template = filepath.Join(folder, "template.yaml")
	file, err := os.Create(r.template)
	if err != nil {
		return err
	}
	defer file.Close()
	values := map[string]any{"Code": code, "Provider": provider, "Scenarios": r.trials}
	if err := template.Must(template.New("").Parse(templateText)).Execute(file, values); err != nil {
		return err
	}
	r.stack, err = stack.Read(r.template, &stack.Options{
		Account:  "000000000000",
		QueueURL: func(name string) string { return r.endpoint + "/000000000000/" + name },
	})
	return err
}

// observe counts the messages that are still to be dealt with.
func (r *rig) observe(e queues.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.trials {
		if t.Queue() != e.Queue || t.drained {
			continue
		}
		switch e.Kind {
		case queues.Sent:
			r.open++
		case queues.Deleted, queues.Redriven:
			if r.open--; r.open == 0 {
				close(r.quiet)
			}
		}
	}
}

func (r *rig) decided(o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	job := r.jobs[o.MessageID]
	r.outcomes[job] = append(r.outcomes[job], o.String())
}

func (r *rig) crashed(queue string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crashes[queue]++
}

// fill makes queues and table, and sends all jobs.
func (r *rig) fill(ctx context.Context) error {
	for _, table := range r.stack.Tables {
		_, err := r.dynamodb.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName: aws.String(table.Name), BillingMode: ddb.BillingModePayPerRequest,
			KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
			AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		})
		if err != nil {
			return err
		}
	}
	for _, dead := range []bool{true, false} { // a redrive policy names a queue that exists
		for _, q := range r.stack.Queues {
			if dead != (q.DeadLetterQueue == "") {
				continue
			}
			in := &sqs.CreateQueueInput{QueueName: aws.String(q.Name), Attributes: q.Attributes}
			if _, err := r.sqs.CreateQueue(ctx, in); err != nil {
				return err
			}
		}
	}
	for _, t := range r.trials {
		if err := r.send(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) send(ctx context.Context, t trial) error {
	for _, j := range t.jobs {
		for n := range max(j.copies, 1) {
			out, err := r.sqs.SendMessage(ctx, r.message(t, j, n))
			if err != nil {
				return fmt.Errorf("%s: %w", t.ID(), err)
			}
			r.jobs[*out.MessageId] = place{t.ID(), j.id}
		}
	}
	return nil
}

// message is the n-th copy of a job.
func (r *rig) message(t trial, j job, n int) *sqs.SendMessageInput {
	queue, _ := r.stack.Queue(t.ID())
	in := &sqs.SendMessageInput{
		QueueUrl: aws.String(queue.URL), MessageBody: aws.String(j.body()), DelaySeconds: j.delay,
	}
	if t.FIFO() {
		in.MessageGroupId = aws.String(cmp.Or(j.group, "of-"+j.id))
		in.MessageDeduplicationId = aws.String(fmt.Sprint(j.id, n))
	}
	return in
}

// letters empties the dead-letter queue of a trial.
func (r *rig) letters(ctx context.Context, t trial) ([]types.Message, error) {
	queue, _ := r.stack.Queue(t.ID() + "Dead")
	out, err := r.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(queue.URL), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// item is one of the ledger.
type item = map[string]ddb.AttributeValue

// items are all of the ledger, by their ids.
func (r *rig) items(ctx context.Context) (map[string]item, error) {
	out, err := r.dynamodb.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(r.stack.Tables[0].Name)})
	if err != nil {
		return nil, err
	}
	items := map[string]item{}
	for _, i := range out.Items {
		items[text(i["id"])] = i
	}
	return items, nil
}

func text(v ddb.AttributeValue) string {
	switch v := v.(type) {
	case *ddb.AttributeValueMemberS:
		return v.Value
	case *ddb.AttributeValueMemberN:
		return v.Value
	}
	return ""
}
