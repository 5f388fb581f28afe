//go:build unix

package parity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/local"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// The hosts that a job can run on.
const (
	runtimeHost = "RuntimeAPI"
	localHost   = "Local"
	workerHost  = "Worker"
)

// host runs the functions of a rig's template on its queues.
type host interface {
	start(ctx context.Context) error
	// drain tells the host to stop. It returns when the host knows.
	drain(ctx context.Context) error
	// wait waits for the end of a host that was told to stop.
	wait(ctx context.Context) error
}

var hosts = map[string]func(*rig) host{
	runtimeHost: func(r *rig) host { return &direct{rig: r} },
	localHost:   func(r *rig) host { return &localStack{rig: r} },
	workerHost:  func(r *rig) host { return newContainers(r) },
}

// direct feeds functions behind a Runtime API from a poller each.
type direct struct {
	*rig
	functions []*runtimeapi.Function
	pollers   sync.WaitGroup
	stop      context.CancelFunc
}

func (d *direct) start(ctx context.Context) error {
	polling, stop := context.WithCancel(ctx)
	d.stop = stop
	for _, f := range d.stack.Functions {
		environment := maps.Clone(f.Environment)
		environment["AWS_ENDPOINT_URL"], environment["AWS_LAMBDA_LOG_LEVEL"] = d.endpoint, "DEBUG"
		function, err := runtimeapi.New(runtimeapi.Options{
			Name: f.Name, Binary: d.binary, Environment: environment, Timeout: f.Timeout, Concurrency: 2,
			Output: d.line,
		})
		if err != nil {
			return err
		}
		d.functions = append(d.functions, function)
		d.pollers.Go(func() { d.poll(polling, f, function) })
	}
	return nil
}

func (d *direct) poll(ctx context.Context, f stack.Function, function *runtimeapi.Function) {
	queue, _ := d.stack.Queue(f.Events[0].Queue)
	poller := eventsource.New(d.sqs, function, eventsource.Mapping{
		QueueURL: queue.URL, QueueARN: queue.ARN,
		ReportBatchItemFailures: f.Events[0].ReportBatchItemFailures, Concurrency: 2,
	}, &eventsource.Options{Observe: func(e eventsource.Event) {
		failed, ok := errors.AsType[*runtimeapi.FunctionError](e.Err)
		if ok && failed.Exited {
			d.crashed(queue.Name)
		}
	}})
	_ = poller.Run(ctx) // the mapping is valid
}

func (d *direct) drain(context.Context) error {
	d.stop()
	return nil
}

func (d *direct) wait(ctx context.Context) error {
	d.pollers.Wait()
	errs := make([]error, len(d.functions))
	var closing sync.WaitGroup
	for i, f := range d.functions {
		closing.Go(func() { errs[i] = f.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// line takes a line of a function's output.
func (r *rig) line(line string) {
	var o outcome
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &o) == nil && o.Line == handler.LogOutcome {
		r.decided(o)
	}
}

// localStack is "sqsafe local" on the rig's queues and ledger.
type localStack struct {
	*rig
	running *local.Stack
	closed  chan error
}

func (l *localStack) start(ctx context.Context) (err error) {
	l.running, err = local.Start(ctx, local.Options{
		Template: l.template, EndpointSQS: l.endpoint, EndpointDynamoDB: l.endpoint, Observe: l.event,
	})
	return err
}

func (l *localStack) event(e local.Event) {
	switch e.Kind {
	case local.KindOutcome:
		l.decided(outcome{MessageID: e.MessageID, Outcome: e.Outcome, Reason: e.Reason, Attempt: e.Attempt})
	case local.KindCrash:
		l.crashed(e.Queue)
	}
}

func (l *localStack) drain(ctx context.Context) error {
	l.closed = make(chan error, 1)
	go func() {
		summary, err := l.running.Close(ctx)
		if summary.Lost > 0 {
			err = errors.Join(err, fmt.Errorf("%d messages are lost, says the summary", summary.Lost))
		}
		l.closed <- err
	}()
	return nil
}

func (l *localStack) wait(context.Context) error { return <-l.closed }
