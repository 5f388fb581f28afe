package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// Options say what is to run.
type Options struct {
	// Template is the path of a SAM template. Where it is empty, Queues and Tables are made
	// instead.
	Template string
	Queues   []Queue
	Tables   []Table
	// EmulatorsOnly leaves the functions of the template out; NeedFunctions makes it an
	// error that there are none.
	EmulatorsOnly, NeedFunctions bool
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
	// Variables override the functions' environment variables.
	Variables Variables
	// Address is where SQS and DynamoDB answer; port 0 takes a free one.
	Address string
	// Hosts are further names or addresses, without a port, by which programs may call the
	// emulators; Origins are web pages that may, such as http://localhost:3000.
	Hosts, Origins []string
	// EndpointSQS and EndpointDynamoDB are URLs of other engines in place of the
	// emulators; empty for none. Where both are given, nothing listens at Address.
	EndpointSQS, EndpointDynamoDB string
	// Prepare is called when the tables are there, before any job is sent, with a
	// client for them that works as long as what answers it: the emulator does
	// beyond Close. Nil prepares nothing.
	Prepare func(ctx context.Context, tables *dynamodb.Client) error
	// Jobs is the path of a file with jobs to send; empty for none.
	Jobs string
	// Notes are told with those of the template itself.
	Notes []string
	// Observe gets what happens, and Observed is called when no more comes at once. Calls
	// do not overlap. Nil ignores it.
	Observe  func(Event)
	Observed func()
}

// Stack is a running stack.
type Stack struct {
	options   Options
	template  *stack.Stack
	jobs      []jobfile.Job
	journal   *journal
	server    *localaws.Server // nil where other engines do all
	listener  net.Listener
	web       *http.Server
	queues    *sqs.Client
	tables    *dynamodb.Client
	folder    string // of built functions
	binaries  map[string]string
	functions []*runtimeapi.Function
	mappings  lambdaAPI
	pollers   sync.WaitGroup
	stop      context.CancelFunc
}

// Start reads the template and the jobs, takes the address, builds the
// functions, creates queues and tables, sends the jobs, and begins to poll.
// What it has begun it ends again when it fails. Its errors are for people.
func Start(ctx context.Context, o Options) (*Stack, error) {
	s := &Stack{options: o, stop: func() {}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	s.connect()
	for _, note := range slices.Concat(
		exposed(s.listener), s.options.Notes, s.template.Notes, notes(s.template, s.options.Variables), unread(s.template)) {
		s.note(note)
	}
	for _, step := range []func(context.Context) error{s.buildAll, s.createQueues, s.createTables, s.prepare} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := s.load(); err != nil {
		return err
	}
	s.connectFunctions()
	if s.server != nil {
		s.web = s.serve()
	}
	s.journal.write(s.ready())
	return s.sendAndPoll(ctx)
}

// sendFirst is for how long jobs are sent before polling begins: a few jobs make
// full batches then, and many do not keep the functions waiting.
const sendFirst = 500 * time.Millisecond

func (s *Stack) sendAndPoll(ctx context.Context) error {
	sent := make(chan error, 1)
	go func() { sent <- s.send(ctx) }()
	timer := time.NewTimer(sendFirst)
	defer timer.Stop()
	select {
	case err := <-sent:
		if err == nil {
			s.poll()
		}
		return err
	case <-timer.C:
		s.poll()
		return <-sent
	}
}

func (s *Stack) prepare(ctx context.Context) error {
	if s.options.Prepare == nil {
		return nil
	}
	return s.options.Prepare(ctx, s.tables)
}

// read looks at everything that a user may have got wrong before anything runs.
func (s *Stack) read(ctx context.Context) (err error) {
	if err := s.options.checkEndpoints(); err != nil {
		return err
	}
	if s.options.EndpointSQS == "" || s.options.EndpointDynamoDB == "" {
		if s.listener, err = listen(ctx, s.options.Address); err != nil {
			return err
		}
	}
	if s.template, err = s.readTemplate(site{region: region, account: account}); err != nil {
		return err
	}
	if err := s.options.Variables.check(s.template); err != nil || s.options.Jobs == "" {
		return err
	}
	s.jobs, err = readJobs(s.options.Jobs, s.template)
	return err
}

// readTemplate reads the template for the place where its queues are. Queues
// without a URL get that of the emulator.
func (s *Stack) readTemplate(at site) (*stack.Stack, error) {
	if s.options.Template == "" {
		return s.alone(at)
	}
	template, err := stack.Read(s.options.Template, &stack.Options{
		Parameters: s.options.Parameters, Region: at.region, Account: at.account,
		QueueURL:    func(name string) string { return s.queueURL(at, name) },
		NoFunctions: s.options.EmulatorsOnly, FunctionsOptional: !s.options.NeedFunctions,
	})
	if missing, ok := errors.AsType[*fs.PathError](err); ok &&
		missing.Path == s.options.Template && errors.Is(missing, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no template %s here; name an existing file with --template, "+
			"or give --queue NAME or --emulators to run without one", missing.Path)
	}
	return template, err
}

func (s *Stack) queueURL(at site, name string) string {
	if url, ok := at.urls[name]; ok {
		return url
	}
	return s.endpoint() + "/" + at.account + "/" + name
}

func (s *Stack) note(line string) { s.journal.write(Event{Kind: KindNote, Line: line}) }

// Broken gives an error when a function cannot be started at all.
func (s *Stack) Broken() <-chan error { return s.journal.broken }

// Close stops receiving, lets running batches finish while ctx lasts, ends the
// functions, and accounts for every job.
func (s *Stack) Close(ctx context.Context) (Summary, error) {
	err := s.release(ctx)
	empty, emptyErr := s.emptyQueues(ctx)
	verdicts := s.verdicts(ctx, s.journal.tally.unsettled(empty))
	return s.journal.tally.summary(time.Now().UTC(), empty, verdicts), errors.Join(err, emptyErr)
}

func (s *Stack) release(ctx context.Context) error {
	s.stop()
	finished := make(chan struct{})
	go func() { s.pollers.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	errs := []error{s.closeFunctions(ctx)}
	if s.web != nil {
		errs = append(errs, s.web.Close())
	} else if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.folder != "" {
		errs = append(errs, os.RemoveAll(s.folder))
	}
	if s.journal != nil {
		s.journal.reorder.flush()
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the stack: %w", err)
	}
	return nil
}

// closeFunctions ends all at the same time: each may need its grace.
func (s *Stack) closeFunctions(ctx context.Context) error {
	errs := make([]error, len(s.functions))
	var closing sync.WaitGroup
	for i, f := range s.functions {
		closing.Go(func() { errs[i] = f.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}
