package worker_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/worker"
)

const (
	ledgerTable = "ledger"
	maxReceives = 30
)

// site is a queue with its dead-letter queue and a ledger, and what the jobs that run
// on its machines do.
type site struct {
	*world
	random func() float64

	mu sync.Mutex
	// sent, started and done are by body: when it was sent, when its latest run began
	// and when the first of its runs came to its end.
	sent, started, done map[string]time.Duration
	// runs counts the runs of each body, and killed those of them in the middle of which
	// their machine was lost.
	runs, killed map[string]int
}

// onSite runs a scenario on a site, whose jitter follows the seed.
func onSite(t *testing.T, seed uint64, scenario func(s *site)) {
	t.Helper()
	bubble(t, "jobs", "30", func(w *world) {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(seed, 0))
		s := &site{
			world: w, sent: map[string]time.Duration{}, started: map[string]time.Duration{},
			done: map[string]time.Duration{}, runs: map[string]int{}, killed: map[string]int{},
			random: func() float64 {
				mu.Lock()
				defer mu.Unlock()
				return random.Float64()
			},
		}
		s.create()
		scenario(s)
	})
}

func (s *site) create() {
	s.t.Helper()
	_, err := s.client.CreateQueue(s.t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("dead")})
	if err == nil {
		_, err = s.client.SetQueueAttributes(s.t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: &s.url, Attributes: map[string]string{
				"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":` +
					strconv.Itoa(maxReceives) + `}`,
			},
		})
	}
	if err == nil {
		_, err = dynamodb.NewFromConfig(localtest.Config(s.server)).CreateTable(s.t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String(ledgerTable), BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) now() time.Duration { return time.Since(s.begin) }

// put sends jobs.
func (s *site) put(bodies ...string) {
	s.t.Helper()
	for _, body := range bodies {
		s.mu.Lock()
		s.sent[body] = s.now()
		s.mu.Unlock()
		s.send(body)
	}
}

// span is when the first of the last runs began and when the last job was done.
func (s *site) span(bodies []string) (begin, end time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begin = s.started[bodies[0]]
	for _, body := range bodies {
		begin, end = min(begin, s.started[body]), max(end, s.done[body])
	}
	return begin, end
}

func (s *site) totalRuns(bodies []string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range bodies {
		n += s.runs[body]
	}
	return n
}

func (s *site) longestWait(bodies []string) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range bodies {
		wait = max(wait, s.started[body]-s.sent[body])
	}
	return wait
}

// allDone tells whether the jobs have come to their end.
func (s *site) allDone(bodies []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range bodies {
		if _, done := s.done[body]; !done {
			return false
		}
	}
	return true
}

// await waits until the jobs are done, and tells whether they are within the limit.
func (s *site) await(limit time.Duration, bodies ...string) bool {
	for end := s.now() + limit; s.now() < end; after(time.Second) {
		if s.allDone(bodies) {
			return true
		}
	}
	return false
}

// item is what the ledger has of a job: its status and the counts that are not zero.
func (s *site) item(body string) map[string]string {
	s.t.Helper()
	out, err := dynamodb.NewFromConfig(localtest.Config(s.server)).GetItem(s.t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(ledgerTable),
		Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "jobs#" + body}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	item := map[string]string{}
	for _, name := range []string{"status", "claims", "settled", "crashes", "attempts"} {
		switch v := out.Item[name].(type) {
		case *types.AttributeValueMemberS:
			item[name] = v.Value
		case *types.AttributeValueMemberN:
			if v.Value != "0" {
				item[name] = v.Value
			}
		}
	}
	return item
}

// noneDead fails if a job was dead-lettered, by a worker or by SQS.
func (s *site) noneDead() {
	s.t.Helper()
	for body, why := range s.dead() {
		s.t.Errorf("%s is dead: %s", body, why)
	}
}

// dead are up to ten jobs that were dead-lettered, and why.
func (s *site) dead() map[string]string {
	s.t.Helper()
	out, err := s.client.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(localtest.Endpoint + "/000000000000/dead"), MaxNumberOfMessages: 10,
		MessageAttributeNames: []string{"All"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	dead := map[string]string{}
	for _, m := range out.Messages {
		dead[*m.Body] = deathOf(m)
	}
	return dead
}

func deathOf(m sqstypes.Message) string {
	record, err := dlq.Open(m)
	if err != nil {
		return err.Error()
	}
	return record.Reason + ": " + record.Message
}

// machine is a computer with a worker on it.
type machine struct {
	*site
	*running
	power context.Context // ends when the machine is lost
	off   context.CancelFunc
	// at are the jobs that run on it.
	at map[string]bool
}

// boot starts a worker on a machine of its own. The job is told the machine, since
// what a lost machine does has no effect.
func (s *site) boot(o worker.Options, concurrency int, job func(m *machine) handler.Func) *machine {
	s.t.Helper()
	m := &machine{site: s, at: map[string]bool{}}
	m.power, m.off = context.WithCancel(s.t.Context())
	config := localtest.Config(s.server)
	config.HTTPClient = &http.Client{Transport: m}
	client := sqs.NewFromConfig(config)
	o.QueueURL, o.Logger = s.url, slog.New(m)
	polling, err := worker.New(client, &o)
	if err != nil {
		s.t.Fatal(err)
	}
	store := dynamo.New(dynamodb.NewFromConfig(config), ledgerTable, nil)
	ledger, err := idem.New(store, &idem.Options{Key: bodyKey, Logger: o.Logger})
	if err != nil {
		s.t.Fatal(err)
	}
	letters, err := dlq.NewSender(client, localtest.Endpoint+"/000000000000/dead", &dlq.Options{Logger: o.Logger})
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := handler.NewProcessor(job(m), &handler.Options{
		Ledger: ledger, DeadLetter: letters, Queue: polling.Queue(), Concurrency: concurrency,
		MaxReceives: maxReceives, Logger: o.Logger, Random: s.random,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	m.running = s.run(polling, p)
	context.AfterFunc(m.power, m.stop) // nobody waits for it
	return m
}

func bodyKey(_ context.Context, m *handler.Message) (string, error) { return m.Body, nil }

// kill takes the machine away, in the middle of what runs on it.
func (m *machine) kill() {
	m.site.mu.Lock()
	defer m.site.mu.Unlock()
	for body := range m.at {
		m.killed[body]++
	}
	m.off()
}

// isGone tells whether the machine is lost: nothing of it reaches SQS or the ledger any
// more, and its goroutines end in the dark.
func (m *machine) isGone() bool { return m.power.Err() != nil }

// RoundTrip makes machine the network of its clients. That of a lost machine is silent.
func (m *machine) RoundTrip(r *http.Request) (*http.Response, error) {
	if !m.isGone() {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		stop := context.AfterFunc(m.power, cancel)
		defer stop()
		response, err := m.server.Transport().RoundTrip(r.WithContext(ctx))
		if !m.isGone() {
			return response, err
		}
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Enabled and the rest make machine a log handler that is silent once it is lost.
func (m *machine) Enabled(context.Context, slog.Level) bool { return !m.isGone() }

// Handle writes to the world's log.
func (m *machine) Handle(ctx context.Context, r slog.Record) error { return m.world.Handle(ctx, r) }

// WithAttrs changes nothing.
func (m *machine) WithAttrs([]slog.Attr) slog.Handler { return m }

// WithGroup changes nothing.
func (m *machine) WithGroup(string) slog.Handler { return m }

// begin notes that a job has started.
func (m *machine) begin(body string) {
	m.site.mu.Lock()
	defer m.site.mu.Unlock()
	if !m.isGone() {
		m.started[body] = m.now()
		m.runs[body]++
		m.at[body] = true
	}
}

// end notes that a job has left, and whether it is done.
func (m *machine) end(body string, isDone bool) {
	m.site.mu.Lock()
	defer m.site.mu.Unlock()
	delete(m.at, body)
	if !isDone {
		return
	}
	if _, done := m.done[body]; !done && !m.isGone() {
		m.done[body] = m.now()
	}
}

// taking makes jobs that take as long as d says, unless they are cancelled.
func taking(d func(body string) time.Duration) func(m *machine) handler.Func {
	return func(m *machine) handler.Func {
		return func(ctx context.Context, message *handler.Message) error {
			m.begin(message.Body)
			err := work(ctx, d(message.Body))
			m.end(message.Body, err == nil)
			return err
		}
	}
}
