package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const (
	region  = "us-east-1"
	account = "123456789012"
)

// Options say what is to run. Template is required.
type Options struct {
	// Template is the path of a SAM template.
	Template string
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
	// Variables override the functions' environment variables.
	Variables Variables
	// Address is where SQS and DynamoDB answer; port 0 takes a free one.
	Address string
	// Jobs is the path of a file with jobs to send; empty for none.
	Jobs string
	// Observe gets what happens. Calls do not overlap. Nil ignores it.
	Observe func(Event)
}

// Stack is a running stack.
type Stack struct {
	template  *stack.Stack
	jobs      []Job
	journal   *journal
	server    *localaws.Server
	listener  net.Listener
	web       *http.Server
	queues    *sqs.Client
	tables    *dynamodb.Client
	binaries  string // the folder of built functions
	functions []*runtimeapi.Function
	pollers   sync.WaitGroup
	stop      context.CancelFunc
}

// Start reads the template and the jobs, takes the address, builds the
// functions, creates queues and tables, sends the jobs, and begins to poll.
// What it has begun it ends again when it fails. Its errors are for people.
func Start(ctx context.Context, o Options) (*Stack, error) {
	s := &Stack{stop: func() {}}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context, o Options) error {
	if err := s.read(ctx, o); err != nil {
		return err
	}
	s.connect(o)
	for _, note := range s.template.Notes {
		s.journal.write(Event{Kind: KindNote, Line: note})
	}
	if err := s.buildAll(ctx, o.Variables); err != nil {
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	s.web = serve(s.server, s.listener)
	s.journal.write(Event{Kind: KindReady, Address: reachable(s.listener)})
	if err := s.Send(ctx, s.jobs); err != nil {
		return err
	}
	s.poll()
	return nil
}

// read looks at everything that a user may have got wrong before anything runs.
func (s *Stack) read(ctx context.Context, o Options) (err error) {
	if s.listener, err = listen(ctx, o.Address); err != nil {
		return err
	}
	endpoint := s.endpoint()
	s.template, err = stack.Read(o.Template, &stack.Options{
		Parameters: o.Parameters, Region: region, Account: account,
		QueueURL: func(name string) string { return endpoint + "/" + account + "/" + name },
	})
	if err != nil {
		return err
	}
	if err := o.Variables.check(s.template); err != nil || o.Jobs == "" {
		return err
	}
	s.jobs, err = ReadJobs(o.Jobs, s.template)
	return err
}

func (s *Stack) endpoint() string { return "http://" + reachable(s.listener) }

func (s *Stack) connect(o Options) {
	observe := o.Observe
	if observe == nil {
		observe = func(Event) {}
	}
	s.journal = &journal{sequence: sequence{emit: observe}, books: newBooks(), deadLetters: map[string]bool{}}
	for _, q := range s.template.Queues {
		if target, ok := s.template.Queue(q.DeadLetterQueue); ok {
			s.journal.deadLetters[target.Name] = true
		}
	}
	s.server = localaws.New(&localaws.Options{Region: region, Account: account, Observe: s.journal.queue})
	config := aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(s.endpoint()),
		HTTPClient:   &http.Client{Transport: s.server.Transport()},
	}
	s.queues, s.tables = sqs.NewFromConfig(config), dynamodb.NewFromConfig(config)
}

func (s *Stack) buildAll(ctx context.Context, variables Variables) (err error) {
	if s.binaries, err = os.MkdirTemp("", "sqsafe-local-"); err != nil {
		return err
	}
	for _, f := range s.template.Functions {
		s.journal.write(Event{Kind: KindBuilding, Function: f.LogicalID})
		binary, err := build(ctx, f, s.binaries)
		if err != nil {
			return err
		}
		function, err := runtimeapi.New(runtimeapi.Options{
			Name: f.Name, Binary: binary, Region: region, Account: account,
			Environment: variables.environment(f, s.endpoint()),
			Timeout:     f.Timeout, MemoryMB: f.MemoryMB, Concurrency: processes(f),
			Output:  func(line string) { s.journal.output(f.LogicalID, line) },
			Observe: s.journal.process,
		})
		if err != nil {
			return err
		}
		s.functions = append(s.functions, function)
	}
	return nil
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
		for _, e := range f.Events {
			if !e.Enabled {
				continue
			}
			queue, _ := s.template.Queue(e.Queue)
			poller := eventsource.New(s.queues, s.functions[i], eventsource.Mapping{
				QueueURL: queue.URL, QueueARN: queue.ARN, Region: region,
				BatchSize: e.BatchSize, Window: e.Window,
				ReportBatchItemFailures: e.ReportBatchItemFailures, Concurrency: concurrency(e),
			}, &eventsource.Options{Observe: func(in eventsource.Event) { s.journal.batch(f.LogicalID, in) }})
			s.pollers.Go(func() {
				if err := poller.Run(ctx); err != nil {
					s.journal.write(Event{Kind: KindFailed, Function: f.LogicalID, Queue: queue.Name, Error: err.Error()})
				}
			})
		}
	}
}

// Idle waits until nothing is visible, delayed or in flight outside dead-letter
// queues. It returns the error of ctx if that ends first.
func (s *Stack) Idle(ctx context.Context) error { return s.server.SQS().Idle(ctx) }

// Close stops receiving, lets running batches finish while ctx lasts, ends the
// functions, and accounts for every job.
func (s *Stack) Close(ctx context.Context) (Summary, error) {
	err := s.release(ctx)
	return s.journal.books.close(time.Now().UTC()), err
}

func (s *Stack) release(ctx context.Context) error {
	s.stop()
	finished := make(chan struct{})
	go func() { s.pollers.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	var errs []error
	for _, f := range s.functions {
		errs = append(errs, f.Close(ctx))
	}
	if s.web != nil {
		errs = append(errs, s.web.Close())
	} else if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.binaries != "" {
		errs = append(errs, os.RemoveAll(s.binaries))
	}
	if s.journal != nil {
		s.journal.sequence.flush()
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the stack: %w", err)
	}
	return nil
}
