package local

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localreport"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// load puts each built function behind a Runtime API.
func (s *Stack) load() error {
	for _, f := range s.template.Functions {
		function, err := runtimeapi.New(runtimeapi.Options{
			Name: f.Name, Binary: s.binaries[f.LogicalID], Region: region, Account: account,
			Environment: s.options.Variables.environment(f, s.endpoints()),
			Timeout:     f.Timeout, MemoryMB: f.MemoryMB, Concurrency: processes(f),
			Output: func(line string) { s.journal.output(f.LogicalID, line) },
			Report: func(line string) { s.journal.report(f.LogicalID, line) }, ReportVariable: localreport.Variable,
			Observe: func(in runtimeapi.Event) { s.journal.process(f.LogicalID, in) },
		})
		if err != nil {
			return err
		}
		s.functions = append(s.functions, function)
	}
	return nil
}

// endpoints are the variables that lead a function's SDK to what it is to call.
func (s *Stack) endpoints() map[string]string {
	all := map[string]string{
		endpointVariable:               s.endpoint(),
		endpointVariable + "_SQS":      s.options.EndpointSQS,
		endpointVariable + "_DYNAMODB": s.options.EndpointDynamoDB,
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// defaultConcurrency is with how many batches at a time Lambda begins to poll.
const defaultConcurrency = 5

func concurrency(e stack.SQSEvent) int {
	if e.MaximumConcurrency == 0 {
		return defaultConcurrency
	}
	return e.MaximumConcurrency
}

// processes is how many of the function's processes may run side by side.
func processes(f stack.Function) int {
	n := 0
	for _, e := range f.Events {
		n += concurrency(e)
	}
	return n
}

func (s *Stack) poll() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	for _, m := range s.mappings {
		s.pollers.Go(func() { m.work(ctx) })
	}
}

// connectFunctions makes the event source mappings. Those that the template disables do not
// poll until they are enabled.
func (s *Stack) connectFunctions() {
	for i, f := range s.template.Functions {
		for _, e := range f.Events {
			queue, _ := s.template.Queue(e.Queue)
			m := newSourceMapping(f.ARN, queue.ARN, e)
			m.poll = func(ctx context.Context) error { return s.pollOne(ctx, s.functions[i], f, e) }
			m.told = func(enabled bool) {
				what := "stops receiving"
				if enabled {
					what = "receives again"
				}
				s.note(fmt.Sprintf("%s %s from %s", f.LogicalID, what, queue.LogicalID))
			}
			s.mappings = append(s.mappings, m)
		}
	}
}

// mapping returns what an event of the template asks for, of a function with a timeout.
func mapping(e stack.SQSEvent, timeout time.Duration, queue stack.Queue) eventsource.Mapping {
	return eventsource.Mapping{
		QueueURL: queue.URL, QueueARN: queue.ARN, Region: region, Visibility: visibleAfter(e, timeout, queue),
		BatchSize: e.BatchSize, Window: e.Window,
		ReportBatchItemFailures: e.ReportBatchItemFailures, Filters: e.Filters, Concurrency: concurrency(e),
	}
}

// extraVisibility is what Lambda adds to the batching window and the timeout of the
// function where the queue hides messages for a shorter time than both together.
const extraVisibility = 30 * time.Second

// visibleAfter is for how long Lambda hides what it receives; 0 means the visibility
// timeout of the queue. That counts from the receive, so the batching window takes time
// from it.
func visibleAfter(e stack.SQSEvent, timeout time.Duration, queue stack.Queue) time.Duration {
	if e.Window == 0 || e.Window+timeout <= queue.Visibility {
		return 0
	}
	return e.Window + timeout + extraVisibility
}

// pollOne feeds a function from one queue until ctx ends.
func (s *Stack) pollOne(
	ctx context.Context, function *runtimeapi.Function, f stack.Function, e stack.SQSEvent,
) error {
	queue, _ := s.template.Queue(e.Queue)
	options := &eventsource.Options{Observe: func(in eventsource.Event) { s.journal.batch(f.LogicalID, in) }}
	if !f.AllowsLoops {
		options.Recursion = &eventsource.Recursion{Function: f.Name, Lineage: runtimeapi.WithLineage}
	}
	poller := eventsource.New(s.queues, function, mapping(e, f.Timeout, queue), options)
	err := poller.Run(ctx)
	if err != nil {
		s.journal.write(Event{Kind: KindFailed, Function: f.LogicalID, Queue: queue.Name, Error: err.Error()})
	}
	return err
}
