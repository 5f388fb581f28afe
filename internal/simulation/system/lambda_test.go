package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

// lambdaHost is what AWS Lambda does for a function: an event source mapping that
// polls, and processes that come, are frozen and go.
type lambdaHost struct {
	*world
	*hostConfig
	poller *eventsource.Poller
	ctx    context.Context
	stop   context.CancelFunc

	mu        sync.Mutex
	processes []*instance
	made      int
	requests  int
	deployed  int
}

// instance is a process with what Lambda knows of it.
type instance struct {
	*process
	running int
	// ending reports whether it gets no further invocation.
	ending bool
}

func newLambdaHost(w *world, c *hostConfig) *lambdaHost {
	h := &lambdaHost{world: w, hostConfig: c}
	h.ctx, h.stop = context.WithCancel(context.Background())
	service := w.newProcess("esm", nil)
	h.poller = eventsource.New(service.sqs, h, eventsource.Mapping{
		QueueURL: w.source, QueueARN: w.arn("jobs"),
		ReportBatchItemFailures: true, Concurrency: c.pollers,
	}, nil)
	return h
}

func (h *lambdaHost) run() {
	go func() {
		<-h.over
		h.stop()
	}()
	_ = h.poller.Run(h.ctx)
}

// deploy makes the processes end after their invocations.
func (h *lambdaHost) deploy() {
	h.note("fn", nil, "DEPLOY")
	h.mu.Lock()
	h.deployed++
	var idle []*instance
	for _, i := range h.processes {
		if !i.ending && i.running == 0 {
			idle = append(idle, i)
		}
		i.ending = true
	}
	h.mu.Unlock()
	for _, i := range idle {
		i.kill("replaced")
	}
}

// take finds a process for an invocation, or starts one.
func (h *lambdaHost) take() *instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range h.processes {
		if !i.ending && !i.isDead() && i.running < h.perProcess {
			i.running++
			return i
		}
	}
	h.made++
	name := fmt.Sprintf("%s%d", h.name, h.made)
	i := &instance{process: h.newProcess(name, h.releaseOf(name, h.deployed)), running: 1}
	h.endangers(i.process)
	i.function(nil)
	h.processes = append(h.processes, i)
	return i
}

func (h *lambdaHost) leave(i *instance) {
	h.mu.Lock()
	i.running--
	dies := i.ending && i.running == 0
	h.mu.Unlock()
	if dies {
		i.kill("it has ended after a crash")
	}
}

// answered is how an invocation ended.
type answered struct {
	response []byte
	err      error
	crashed  bool
}

// Invoke implements [eventsource.Invoker].
func (h *lambdaHost) Invoke(_ context.Context, event []byte) ([]byte, error) {
	i := h.take()
	staying := false
	defer func() {
		if !staying {
			h.leave(i)
		}
	}()
	h.mu.Lock()
	h.requests++
	request := fmt.Sprintf("r%d", h.requests)
	h.mu.Unlock()
	r := h.seed.at("invocation %s", request)
	<-time.After(between(r, time.Millisecond, 300*time.Millisecond))
	end := time.Now().Add(h.timeout)
	ctx, cancel := context.WithDeadline(i.life, end)
	defer func() {
		if !staying {
			cancel()
		}
	}()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: request})
	i.note(i.name, nil, "invocation %s begins", request)
	h.judge.handed(i.process, asked(event))
	done := make(chan answered, 1)
	go func() { done <- i.handle(ctx, event) }()
	deadline := time.NewTimer(h.timeout)
	defer deadline.Stop()
	early := make(<-chan time.Time)
	if h.on[zombies] && chance(r, 0.2) {
		early = time.After(h.timeout * time.Duration(10+r.IntN(80)) / 100)
	}
	select {
	case <-early:
		i.note(i.name, nil, "invocation %s is said to have timed out, and goes on", request)
		staying = true
		go func() {
			defer cancel()
			h.outlive(i, request, event, done, end)
		}()
		return nil, errors.New("Task timed out")
	case a := <-done:
		return h.answered(i, request, event, a)
	case <-i.life.Done():
		<-time.After(i.afterwards(request))
		return nil, errors.New("Runtime exited")
	case <-deadline.C:
		h.breaks("deadline", nil, "invocation %s of %s has not returned at its deadline", request, i.name)
		i.kill("timed out")
		return nil, errors.New("Task timed out")
	}
}

// outlive waits for an invocation whose end nobody waits for any more.
func (h *lambdaHost) outlive(i *instance, request string, event []byte, done <-chan answered, end time.Time) {
	deadline := time.NewTimer(time.Until(end))
	defer deadline.Stop()
	select {
	case a := <-done:
		_, _ = h.answered(i, request, event, a)
	case <-i.life.Done():
	case <-deadline.C:
		i.kill("timed out")
	}
	h.leave(i)
}

// answered takes in the end of an invocation in time.
func (h *lambdaHost) answered(i *instance, request string, event []byte, a answered) ([]byte, error) {
	if i.isDead() {
		return nil, errors.New("Runtime exited")
	}
	back := failures(a.response)
	i.note(i.name, nil, "invocation %s ends, back: %v %v", request, h.namesOf(back), a.err)
	if a.err == nil {
		h.judge.responded(request, asked(event), back)
	}
	if a.crashed {
		h.judge.crashed(request, asked(event))
		h.mu.Lock()
		i.ending = true
		h.mu.Unlock()
	}
	return a.response, a.err
}

// failures are the messages that a response reports as failed.
func failures(response []byte) []string {
	var out events.SQSEventResponse
	_ = json.Unmarshal(response, &out)
	var ids []string
	for _, f := range out.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// asked are the messages of an event.
func asked(event []byte) []string {
	var in struct {
		Records []struct {
			MessageID string `json:"messageId"`
		}
	}
	_ = json.Unmarshal(event, &in)
	var ids []string
	for _, r := range in.Records {
		ids = append(ids, r.MessageID)
	}
	return ids
}

func (w *world) namesOf(ids []string) []string {
	var names []string
	for _, id := range ids {
		names = append(names, w.nameOf(id))
	}
	return names
}

// handle calls the processor as the runtime does.
func (i *instance) handle(ctx context.Context, event []byte) (a answered) {
	defer func() {
		if value := recover(); value != nil {
			a = answered{err: fmt.Errorf("crashed: %.200v", text(value)), crashed: true}
		}
	}()
	response, err := i.processor.Invoke(ctx, event)
	return answered{response: response, err: err}
}

func text(panicked any) any {
	if told, ok := panicked.(messages.InvokeResponse_Error); ok {
		return told.Message
	}
	return panicked
}
