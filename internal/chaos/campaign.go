//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/local"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// campaign is one attack.
type campaign struct {
	*plan
	source   string // folder of the job's program
	evidence *evidence
	server   *localaws.Server
	proxy    *proxy
	provider *provider
	fleet    *fleet
	striker  *striker
	ledger   ledger
	mail     mail
	stack    *local.Stack
	workers  *workers
	servers  []*http.Server
	summary  local.Summary
	// direct is where SQS and DynamoDB answer past the proxy, replayed how many letters
	// were sent back there.
	direct   string
	replayed int
	// drained is how long all took to end after the last strike.
	drained time.Duration
}

// drainLimit is in what time all must have ended after the last strike. Nothing may stand
// still, but some things wait by design: a suspect that was not alone stays away for a
// minute and more, and a store that was down at a late receive is asked again after five
// minutes, while the group of a FIFO queue waits for its head.
const drainLimit = 12 * time.Minute

// run attacks, and gives what is there in the end.
func (c *campaign) run(ctx context.Context, progress io.Writer) (f findings, err error) {
	defer func() {
		for _, s := range c.servers {
			_ = s.Close()
		}
	}()
	if err := c.prepare(ctx); err != nil {
		return f, errors.Join(err, c.stop())
	}
	attacking, begun := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { showProgress(attacking, progress, c.progress) })
	err = c.attack(ctx)
	if err == nil {
		err = c.drain(ctx)
	}
	begun()
	shown.Wait()
	err = errors.Join(err, c.stop())
	if ctx.Err() != nil {
		return f, err
	}
	f, findErr := c.find(ctx)
	return f, errors.Join(err, findErr)
}

// prepare starts servers, functions and workers.
func (c *campaign) prepare(ctx context.Context) error {
	c.server = localaws.New(&localaws.Options{Observe: c.evidence.queue})
	direct := localtest.Config(c.server)
	c.ledger = ledger{dynamodb.NewFromConfig(direct)}
	c.proxy, c.fleet = newProxy(c.seed, c.server), newFleet()
	c.provider = newProvider(c.jobs, func(j *job) bool {
		return c.ledger.item(context.WithoutCancel(ctx), j).Status == completed
	})
	c.striker = newStriker(c.fleet, c.provider, c.ledger, func(text string) { c.evidence.write(strikesFile, text) })
	endpoint, err := c.serve(ctx, c.proxy)
	if err != nil {
		return err
	}
	if c.direct, err = c.serve(ctx, c.server); err != nil {
		return err
	}
	c.mail = mail{sqs.NewFromConfig(direct), endpoint}
	provider, err := c.serve(ctx, c.provider.handler())
	if err != nil {
		return err
	}
	template := filepath.Join(c.evidence.folder, "template.yaml")
	if err := writeTemplate(template, c.source, provider); err != nil {
		return err
	}
	c.stack, err = local.Start(ctx, local.Options{
		Template: template, EndpointSQS: endpoint, EndpointDynamoDB: endpoint, Observe: c.happened,
	})
	if err != nil {
		return err
	}
	binary, err := build(ctx, c.source, c.evidence.folder)
	if err != nil {
		return err
	}
	c.workers = &workers{
		binary: binary, endpoint: endpoint, provider: provider, fleet: c.fleet, stopping: make(chan struct{}),
		line: func(pid int, queue, text string) {
			c.evidence.write(workersFile, fmt.Sprintf("%d %s %s", pid, queue, text))
		},
	}
	c.workers.start()
	return nil
}

// serve serves at a free port.
func (c *campaign) serve(ctx context.Context, h http.Handler) (url string, err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute} // a frozen process takes its time
	c.servers = append(c.servers, s)
	go func() { _ = s.Serve(l) }() // ends with ErrServerClosed after Close
	return "http://" + l.Addr().String(), nil
}

// happened takes what sqsafe local tells. The functions' template has one for each queue.
func (c *campaign) happened(e local.Event) {
	c.evidence.record(functionsFile, e)
	if e.Kind != local.KindStarted {
		return
	}
	for _, q := range queues {
		if e.Function == q.id+"Function" {
			c.fleet.add(process{e.PID, inFunction, q})
		}
	}
}

// attack does what the plan says, up to its end.
func (c *campaign) attack(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := time.Now()
	c.proxy.arm(true)
	defer c.proxy.arm(false)
	striking, over := context.WithDeadline(ctx, start.Add(c.length+striveLimit))
	defer over()
	var under sync.WaitGroup
	under.Go(func() {
		if err := c.mail.send(ctx, start, c.jobs); err != nil {
			cancel(err)
		}
	})
	under.Go(func() {
		if err := c.replay(ctx, start); err != nil {
			cancel(err)
		}
	})
	under.Go(func() { c.striker.run(striking, start, c.strikes) })
	under.Go(func() { c.fail(ctx, start) })
	stop := context.AfterFunc(ctx, c.fleet.thaw)
	defer stop()
	select {
	case err := <-c.stack.Broken():
		cancel(err)
	case <-sleeping(ctx, start.Add(c.length)):
	}
	under.Wait()
	c.fleet.thaw()
	return context.Cause(ctx)
}

// striveLimit is how long strikes that are late may take beyond the plan.
const striveLimit = time.Minute

// sleeping is closed at a time, or when ctx ends.
func sleeping(ctx context.Context, at time.Time) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sleepUntil(ctx, at)
	}()
	return done
}

// fail makes the outages of the plan.
func (c *campaign) fail(ctx context.Context, start time.Time) {
	turn := func(what string, on bool) {
		if what == ofProvider {
			c.provider.outage(on)
		} else {
			c.proxy.outage(what, on)
		}
		c.evidence.write(strikesFile, fmt.Sprintf("outage of %s: %t", what, on))
	}
	for _, o := range c.outages {
		if !sleepUntil(ctx, start.Add(o.from)) {
			return
		}
		turn(o.what, true)
		sleepUntil(ctx, start.Add(o.to))
		turn(o.what, false)
	}
}

// drain waits until the queues are empty.
func (c *campaign) drain(ctx context.Context) error {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	err := c.server.SQS().Idle(ctx)
	c.drained = time.Since(start)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // the judge finds what is left
	}
	return err
}

// closeLimit is how long functions have to end.
const closeLimit = 20 * time.Second

// stop ends functions and workers.
func (c *campaign) stop() error {
	var errs []error
	if c.workers != nil {
		errs = append(errs, c.workers.stop(), os.Remove(c.workers.binary))
	}
	if c.stack != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		var err error
		c.summary, err = c.stack.Close(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// find looks at what is there.
func (c *campaign) find(ctx context.Context) (f findings, err error) {
	f = findings{jobs: c.jobs, left: map[string]int{}, excused: c.striker.excused, wasFrozen: c.fleet.wasFrozen}
	f.accounts, _ = c.provider.book()
	for _, q := range c.server.SQS().Stats() {
		if !q.DeadLetter {
			f.left[q.Name] = q.Visible + q.NotVisible + q.Delayed
		}
	}
	var lettersErr error
	f.letters, lettersErr = c.mail.letters(ctx)
	f.items, err = c.ledger.all(ctx)
	return f, errors.Join(lettersErr, err)
}

func (c *campaign) progress() string {
	sent, _, _ := c.striker.count()
	return fmt.Sprintf("%d of %d kills, %d messages have left their queue, of %d jobs",
		sent, len(c.strikes), c.evidence.removed(), len(c.jobs))
}
