package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/simulation"
	"github.com/sqsafe/sqsafe/queue"
)

// process is one process of the function, or a service of AWS that is never killed.
type process struct {
	*world
	name string
	sqs  *sqs.Client
	db   *dynamodb.Client
	// log tells what the processor says.
	log       *slog.Logger
	processor *handler.Processor
	// release is what it runs; nil for a service of AWS.
	release *release
	// life ends when the process is killed.
	life context.Context
	end  context.CancelFunc
	// slots is how many jobs a worker runs at a time.
	slots int
	// struck reports whether it was killed from outside. The world's lock guards it.
	struck bool
	// skew is how much its clock is ahead.
	skew time.Duration
	// retired is closed when the process is told to stop.
	retired    chan struct{}
	retireOnce sync.Once
	// killAt is the passage of the gate at which the process is killed; 0 for never.
	killAt int

	state struct {
		sync.Mutex
		passages int
	}
}

var errKilled = errors.New("the process is dead")

// newProcess makes a process with clients of its own.
func (w *world) newProcess(name string, runs *release) *process {
	p := &process{world: w, name: name, release: runs, retired: make(chan struct{})}
	life := host.WithRandom(context.Background(), p.random)
	p.life, p.end = context.WithCancel(host.WithExit(life, func() { p.kill("it outlived a crash") }))
	r := w.seed.at("skew of %s", name)
	switch {
	case w.on[drifts]:
		p.skew = evenly(r, -5*time.Second, 5*time.Second)
	case w.on[skews]:
		p.skew = evenly(r, -time.Second, time.Second)
	}
	cfg := p.awsConfig()
	p.sqs, p.db = sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	p.log = slog.New(&logHandler{process: p})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, p)
	return p
}

// random gives the same number to all who ask at the same moment, so that their order
// does not count.
func (p *process) random() float64 {
	return float64(p.seed.hash(fmt.Sprint(p.name, " ", p.now()))>>11) / (1 << 53)
}

func (p *process) sdkBackoff(attempt int, _ error) (time.Duration, error) {
	limit := min(time.Second<<min(attempt, 5), 20*time.Second)
	return time.Duration(p.random() * float64(limit)), nil
}

// function makes the processor of a function, with all that production has.
func (p *process) function(visibility handler.Queue) {
	ledger := must(idem.New(&store{Store: dynamo.New(p.db, tableName, nil), process: p}, &idem.Options{
		Key: p.key, Lease: p.lease, Logger: p.log, FailOpen: p.on[failOpen], DeadLetterUnknown: p.on[unknown],
	}))
	api := dlq.API(p.sqs)
	if p.release.later {
		api = laterRecords{api}
	}
	sender := must(dlq.NewSender(api, p.letters, &dlq.Options{
		Function: "pay", FunctionVersion: p.release.name, Logger: p.log,
	}))
	if visibility == nil {
		visibility = must(queue.New(p.sqs, &queue.Options{Endpoint: localtest.Endpoint, Logger: p.log}))
	}
	options := p.options()
	options.Ledger, options.DeadLetter, options.Queue = ledger, hangingLetters{sender, p}, hangingQueue{visibility, p}
	if p.release.previous {
		options.Ledger = simulation.Previous(ledger)
	}
	p.processor = must(handler.NewProcessor(newPreparer(p), &options))
}

// endangers decides whether the process is killed within a call.
func (w *world) endangers(p *process) {
	r := w.seed.at("killing %s", p.name)
	share, most := 0.4, 9
	if w.profile == killed {
		share, most = 0.7, 7
	}
	if w.on[kills] && chance(r, share) {
		p.killAt = 1 + r.IntN(1<<r.IntN(most))
	}
	// Two deaths make a suspect of a job that takes long.
	if doomed := evenly(r, 5*time.Second, 90*time.Second); w.profile == lasting && w.on[kills] && chance(r, 0.3) {
		time.AfterFunc(doomed, func() {
			if !w.isCalm() {
				p.kill("from outside")
			}
		})
	}
}

// retire tells the process to stop.
func (p *process) retire() { p.retireOnce.Do(func() { close(p.retired) }) }

// onBatch takes in the report of a batch.
func (p *process) onBatch(ctx context.Context, r handler.Report) {
	if !p.isDead() {
		p.judge.reported(ctx, p, r)
	}
}

func (p *process) isDead() bool { return p.life.Err() != nil }

// kill ends the process at once: nothing that it does afterwards is seen.
func (p *process) kill(why string) {
	if p.isDead() {
		return
	}
	p.note(p.name, nil, "KILLED: %s", why)
	p.judge.killed(p, strings.HasPrefix(why, "killed by"))
	p.end()
}

// stop ends the process at the end of the history.
func (p *process) stop() { p.end() }

// sleep waits for d, and no longer than until ctx ends. What names who waits.
func (p *process) sleep(ctx context.Context, d time.Duration, what string) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.life.Done():
		return errKilled
	case <-ctx.Done():
		// Others see the end of ctx at the same moment. This one comes after them.
		if err := p.sleepDeaf(p.afterwards(what)); err != nil {
			return err
		}
		return ctx.Err()
	}
}

// afterwards is a short while, another one for each moment and each who waits.
func (p *process) afterwards(what string) time.Duration {
	return 50*time.Microsecond + time.Duration(p.seed.hash(fmt.Sprint(p.name, what, p.now()))%100_000)
}

// sleepDeaf waits for d, whatever else ends than the process.
func (p *process) sleepDeaf(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.life.Done():
		return errKilled
	}
}
