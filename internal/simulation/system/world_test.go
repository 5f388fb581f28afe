package system

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// The tables of the ledger and of jobs that complete themselves.
const (
	tableName    = "ledger"
	effectsTable = "effects"
)

// world is the whole system in one history.
type world struct {
	*config
	begin  time.Time
	server *localaws.Server
	inner  *emulator
	// direct clients do not pass the gate.
	direct struct {
		sqs *sqs.Client
		db  *dynamodb.Client
	}
	source, letters string // queue URLs
	judge           *judge
	// over is closed when the history is.
	over chan struct{}

	mu       sync.Mutex
	journal  []entry
	breaches []breach
	names    map[string]string // of messages, by id
	asked    map[string]int    // how often a call was made, by its name
	calmed   bool
	// changed is closed when a message may have become visible.
	changed chan struct{}
	calls   int
	turns   *turns
	// replaying counts the operators who have received letters and not yet sent all of them.
	replaying atomic.Int32
	// stats count what has happened, for those who want to know what is played.
	stats map[string]int
	all   []*process
}

// outcome is what a history has led to.
type outcome struct {
	config   *config
	journal  []entry
	breaches []breach
	excerpt  string
	calls    int
	lasted   time.Duration
	stats    map[string]int
}

// longest is many times what a history takes, of real time.
const longest = 5 * time.Minute

// play plays one history in a bubble.
func play(t *testing.T, c *config) (out *outcome) {
	t.Helper()
	// A goroutine that never blocks keeps the time of its bubble from passing.
	stuck := time.AfterFunc(longest, func() { panic(fmt.Sprintf("history %d takes longer than %v", c.seed, longest)) })
	defer stuck.Stop()
	var w *world
	defer func() {
		left := recover() // of the bubble, that goroutines are left in it
		switch text := fmt.Sprint(left); {
		case left == nil:
		case out != nil && strings.HasPrefix(text, "deadlock: "):
			out.breaches = append(out.breaches, breach{promise: "end", text: "a goroutine never ends: " + text})
			out.excerpt = w.excerpt(nil, 150)
		default:
			panic(left)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(c)
		w.run()
		w.mu.Lock() // calls of dead processes may have arrived at the very end
		defer w.mu.Unlock()
		out = &outcome{config: c, journal: w.journal, breaches: w.breaches, lasted: w.now(), stats: w.stats}
		switch show := os.Getenv("SQSAFE_SHOW"); {
		case show != "":
			out.excerpt = w.excerpt(strings.Fields(show), math.MaxInt32)
		case len(w.breaches) > 0:
			out.excerpt = w.excerpt(w.breaches[0].jobs, 150)
		}
		out.calls = w.calls
	})
	return out
}

func newWorld(c *config) *world {
	w := &world{
		config: c, begin: time.Now(), over: make(chan struct{}), names: map[string]string{}, asked: map[string]int{},
		stats: map[string]int{}, changed: make(chan struct{}), turns: newTurns(),
	}
	w.judge = newJudge(w)
	w.server = localaws.New(&localaws.Options{Observe: w.observe})
	w.inner = newEmulator(w.server.Transport())
	go w.inner.serve()
	cfg := localtest.Config(w.server)
	cfg.HTTPClient = w.inner
	cfg.APIOptions = []func(*middleware.Stack) error{shorten}
	w.direct.sqs, w.direct.db = sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	w.build()
	return w
}

func (w *world) now() time.Duration { return time.Since(w.begin) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// build creates queues and table.
func (w *world) build() {
	ctx := context.Background()
	dead, jobs := map[string]string{"MessageRetentionPeriod": "1209600"}, map[string]string{}
	if w.on[ordered] {
		dead["FifoQueue"], jobs["FifoQueue"] = "true", "true"
	}
	letters := must(w.direct.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName: aws.String(w.queueName("dead")), Attributes: dead,
	}))
	w.letters = *letters.QueueUrl
	jobs["VisibilityTimeout"] = strconv.Itoa(int(w.visibility.Seconds()))
	jobs["RedrivePolicy"] = w.redrivePolicy(w.maxReceives)
	source := must(w.direct.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName: aws.String(w.queueName("jobs")), Attributes: jobs,
	}))
	w.source = *source.QueueUrl
	for _, name := range []string{tableName, effectsTable} {
		must(w.direct.db.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName:   &name,
			BillingMode: dbtypes.BillingModePayPerRequest,
			AttributeDefinitions: []dbtypes.AttributeDefinition{
				{AttributeName: aws.String("id"), AttributeType: dbtypes.ScalarAttributeTypeS},
			},
			KeySchema: []dbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: dbtypes.KeyTypeHash}},
		}))
	}
}

func (w *world) queueName(name string) string {
	if w.on[ordered] {
		name += ".fifo"
	}
	return name
}

func (w *world) arn(name string) string {
	return "arn:aws:sqs:us-east-1:000000000000:" + w.queueName(name)
}

func (w *world) redrivePolicy(maxReceives int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, w.arn("dead"), maxReceives)
}

// hosting runs processes of the function.
type hosting interface {
	// run returns when the history is over.
	run()
	// deploy replaces the processes.
	deploy()
}

// run plays the history to its end.
func (w *world) run() {
	go w.turns.give()
	defer w.turns.end()
	defer w.inner.end()
	var running sync.WaitGroup
	for _, c := range w.hosts {
		var h hosting
		if c.isWorker() {
			h = newWorkerHost(w, c)
		} else {
			h = newLambdaHost(w, c)
		}
		running.Go(h.run)
		for _, at := range c.deploys {
			time.AfterFunc(at, h.deploy)
		}
	}
	for _, s := range w.sends {
		running.Go(func() { w.send(s) })
	}
	if w.on[replays] {
		w.operate()
	}
	if w.on[lowering] {
		w.lower()
	}
	if w.on[purges] {
		w.purge()
	}
	empty := time.Duration(0) // for how long the queue has been empty
	w.watch(w.calm, func() bool {
		if empty += tick; w.on[replays] || w.judge.left() > 0 {
			empty = 0
		}
		return empty > enough
	})
	w.becomeCalm()
	w.watch(w.limit, func() bool { return w.judge.left() == 0 && w.replaying.Load() == 0 || w.tooMany() })
	w.watch(w.aftermath(), func() bool { return false })
	w.judge.end()
	w.mu.Lock()
	all := w.all
	w.mu.Unlock()
	for _, p := range all {
		p.stop()
	}
	close(w.over)
	running.Wait()
	<-time.After(time.Hour) // what dead processes left behind ends by its own time
}

// aftermath is until when the history goes on after its last message: for workers as long as
// it takes to see whether they have kept what they should have given back.
func (w *world) aftermath() time.Duration {
	for _, h := range w.hosts {
		if h.isWorker() {
			return max(w.now(), w.calm+settledAfter) + pollLag + 5*time.Second
		}
	}
	return w.now() + time.Second
}

// enough is how long the queue is watched when it is empty and nothing more is sent.
const enough = 30 * time.Second

// tick is the time between two looks at what waits.
const tick = 2 * time.Second

func (w *world) waitUntil(at time.Duration) { <-time.After(at - w.now()) }

// watch waits until then, and looks at what waits meanwhile.
func (w *world) watch(at time.Duration, over func() bool) {
	for w.now() < at && !over() {
		<-time.After(min(tick, at-w.now()))
		w.judge.tick()
	}
}

func (w *world) tooMany() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls >= mostCalls
}

func (w *world) becomeCalm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calmed = true
	w.noteLocked("world", nil, "calm")
}

func (w *world) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calmed
}

// nameAttribute carries the name of a message.
const nameAttribute = "name"

// observe is told what happens in the queues.
func (w *world) observe(e queues.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == queues.Sent {
		if a := e.MessageAttributes[nameAttribute]; a.StringValue != nil {
			w.names[e.MessageID] = *a.StringValue
		}
	}
	name := w.names[e.MessageID]
	text := fmt.Sprintf("%s %s %s", e.Queue, e.Kind, name)
	switch e.Kind {
	case queues.Received:
		text += fmt.Sprintf(" #%d", e.ReceiveCount)
	case queues.VisibilityChanged:
		text += fmt.Sprintf(" back in %v", e.Timeout)
	}
	w.noteLocked("sqs", []string{name}, "%s", text)
	w.judge.observed(e, name)
	if e.Kind != queues.Received {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

func (w *world) nameOf(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name := w.names[id]; name != "" {
		return name
	}
	return "?"
}

func (w *world) job(name string) *job {
	for _, j := range w.jobs {
		if j.name == keyOf(name) {
			return j
		}
	}
	panic("no job " + name)
}
