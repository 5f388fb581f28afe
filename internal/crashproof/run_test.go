//go:build unix

package crashproof_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// run is one scenario under way.
type run struct {
	*rig
	scenario
	number   int
	provider *provider

	mu      sync.Mutex
	open    int           // messages that are to be dealt with
	quiet   chan struct{} // closed when there are none left
	begun   chan struct{} // closed when the function has its first event
	closing bool
	started int
	lost    map[string]int
	ended   []string // the processes that were lost, in their order
	// timeouts counts those of them that were killed since they were out of time.
	timeouts int
	output   []string
	// invoked is when each process got its latest event.
	invoked map[string]time.Time
	// slow are the signs that the machine was too slow for the timeouts.
	slow []string
}

func newRun(r *rig, s scenario, number int) *run {
	run := &run{
		rig: r, scenario: s, number: number, provider: newProvider(s), lost: map[string]int{},
		quiet: make(chan struct{}), begun: make(chan struct{}), invoked: map[string]time.Time{},
	}
	run.provider.culpritCalled = run.culpritCalled
	return run
}

// culpritCalled notes a call that comes late: a job that is abandoned is blamed only if it
// had at least half of the time for jobs, which is half of the timeout.
func (r *run) culpritCalled(process string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waited := time.Since(r.invoked[process]); r.says == abandoned && waited > times.timeout/4 {
		r.slow = append(r.slow, "the job began "+waited.String()+" after the invocation")
	}
}

// path is where the provider is.
func (r *run) path() string { return "/" + strconv.Itoa(r.number) }

func (r *run) dead() string { return "dead-" + r.queue() }

// do runs the scenario until its queue is empty.
func (r *run) do(ctx context.Context) error {
	if err := r.fill(ctx); err != nil {
		return err
	}
	function, err := runtimeapi.New(runtimeapi.Options{
		Name: r.path()[1:], Binary: r.binary, Environment: r.environment(), Timeout: times.timeout,
		Concurrency: r.setting.processes, Output: r.line, Observe: r.happened,
	})
	if err != nil {
		return err
	}
	defer r.stop(function)
	return r.poll(ctx, function)
}

// poll feeds the function. Functions start one after another, since the time of
// those that have their first event runs.
func (r *run) poll(ctx context.Context, function *runtimeapi.Function) error {
	poller := eventsource.New(r.sqs, function, eventsource.Mapping{
		QueueURL: r.url(r.queue()), QueueARN: arn(r.queue()), ReportBatchItemFailures: true,
		Concurrency: r.setting.processes * r.setting.invocations, BatchSize: r.setting.batch,
	}, nil)
	polling, stop := context.WithCancel(ctx)
	var pollers sync.WaitGroup
	defer pollers.Wait()
	defer stop()
	r.starts <- struct{}{}
	pollers.Go(func() { _ = poller.Run(polling) }) // the mapping is valid
	select {
	case <-r.begun:
	case <-ctx.Done():
	}
	<-r.starts
	select {
	case <-r.quiet:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("not all messages are dealt with: %w", ctx.Err())
	}
}

// stop ends the processes that are left.
func (r *run) stop(function *runtimeapi.Function) {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	_ = function.Close(context.Background()) // gives no error without an end of its context
}

func (r *run) environment() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL":           r.endpoint,
		"AWS_LAMBDA_MAX_CONCURRENCY": strconv.Itoa(r.setting.invocations),
		"CRASHPROOF_URL":             r.providers + r.path(),
		"SQSAFE_CONCURRENCY":         strconv.Itoa(r.setting.concurrency),
		"SQSAFE_DLQ_URL":             r.url(r.dead()),
		"SQSAFE_MAX_RECEIVES":        strconv.Itoa(r.receives),
		"SQSAFE_METRICS_NAMESPACE":   "off",
		"SQSAFE_TABLE":               table,
	}
}

// fill makes the queues and sends all jobs.
func (r *run) fill(ctx context.Context) error {
	policy, _ := json.Marshal(map[string]any{"deadLetterTargetArn": arn(r.dead()), "maxReceiveCount": r.receives})
	attributes := map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(times.visibility.Seconds())), "RedrivePolicy": string(policy),
	}
	dead := map[string]string{}
	if r.setting.fifo {
		attributes["FifoQueue"], dead["FifoQueue"] = "true", "true"
	}
	if err := r.createQueue(ctx, r.dead(), dead); err != nil {
		return err
	}
	if err := r.createQueue(ctx, r.queue(), attributes); err != nil {
		return err
	}
	for _, j := range r.jobs {
		in := &sqs.SendMessageInput{QueueUrl: aws.String(r.url(r.queue())), MessageBody: aws.String(j.body())}
		if r.setting.fifo {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(j.group), aws.String(j.ID)
		}
		if _, err := r.sqs.SendMessage(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) createQueue(ctx context.Context, name string, attributes map[string]string) error {
	_, err := r.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	return err
}

// moved counts the messages that are still to be dealt with.
func (r *run) moved(kind queues.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kind {
	case queues.Sent:
		r.open++
	case queues.Deleted, queues.Redriven:
		if r.open--; r.open == 0 {
			close(r.quiet)
		}
	}
}

// happened counts processes.
func (r *run) happened(e runtimeapi.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case runtimeapi.Started:
		r.started++
	case runtimeapi.Invoked:
		r.invoked[strconv.Itoa(e.PID)] = time.Now()
		select {
		case <-r.begun:
		default:
			close(r.begun)
		}
	case runtimeapi.Exited, runtimeapi.Killed:
		if r.closing {
			return
		}
		r.ended = append(r.ended, strconv.Itoa(e.PID))
		r.lost[e.Status]++
		if e.Kind == runtimeapi.Killed {
			r.timeouts++
		}
		if r.timeouts > 0 && (r.job.Running != "freeze" || r.timeouts > r.want().Lost[killed]) {
			r.slow = append(r.slow, "timeout of the function")
		}
	}
}

// line takes a line of the function's output.
func (r *run) line(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output = append(r.output, text)
	var told outcome
	if json.Unmarshal([]byte(text), &told) != nil {
		return
	}
	if told.Outcome == handler.OutcomeCrash.String() {
		r.provider.crash()
	}
	hangs := r.says == abandoned || r.setting.hang
	ownFault := hangs && told.Reason == handler.ReasonAbandoned && told.Key != ""
	// Where processes end at once, nobody waits for anything.
	waited := r.kills && (told.Reason == handler.ReasonNoTime || told.Reason == handler.ReasonNotAlone)
	if waited || told.late() && !ownFault {
		r.slow = append(r.slow, text)
	}
}

// outcome is what a line of a function's log may say.
type outcome struct{ Message, Key, Outcome, Reason, Error string }

// late tells whether something took too long.
func (o outcome) late() bool {
	switch {
	case o.Error == "":
		return false
	case o.Message != handler.LogOutcome:
		return strings.Contains(o.Error, context.DeadlineExceeded.Error())
	default:
		return slices.Contains(timedOut, o.Reason)
	}
}

var timedOut = []string{handler.ReasonNoTime, handler.ReasonAbandoned, fault.ReasonDeadline}
