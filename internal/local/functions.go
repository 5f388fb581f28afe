package local

import (
	"context"
	"slices"

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
	for i, f := range s.template.Functions {
		for _, e := range polled(f) {
			s.pollers.Go(func() { s.pollOne(ctx, s.functions[i], f.LogicalID, e) })
		}
	}
}

// polled returns the events of a function that are polled: not the disabled ones.
func polled(f stack.Function) []stack.SQSEvent {
	return slices.DeleteFunc(slices.Clone(f.Events), func(e stack.SQSEvent) bool { return !e.Enabled })
}

// mapping returns what an event of the template asks for.
func mapping(e stack.SQSEvent, queue stack.Queue) eventsource.Mapping {
	return eventsource.Mapping{
		QueueURL: queue.URL, QueueARN: queue.ARN, Region: region,
		BatchSize: e.BatchSize, Window: e.Window,
		ReportBatchItemFailures: e.ReportBatchItemFailures, Filters: e.Filters, Concurrency: concurrency(e),
	}
}

// pollOne feeds a function from one queue until ctx ends.
func (s *Stack) pollOne(ctx context.Context, function *runtimeapi.Function, name string, e stack.SQSEvent) {
	queue, _ := s.template.Queue(e.Queue)
	poller := eventsource.New(s.queues, function, mapping(e, queue), &eventsource.Options{
		Observe: func(in eventsource.Event) { s.journal.batch(name, in) },
	})
	if err := poller.Run(ctx); err != nil {
		s.journal.write(Event{Kind: KindFailed, Function: name, Queue: queue.Name, Error: err.Error()})
	}
}
