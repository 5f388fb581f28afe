package handlertest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
)

// simulation is the queue and the function at work.
type simulation struct {
	t       testing.TB
	queue   Queue
	log     slog.Handler
	start   time.Time
	report  *RunReport
	process *process
	// handlers are the calls of the user's function that have not returned.
	handlers sync.WaitGroup

	mu sync.Mutex
	// shelf, batch and calls, and the report while a batch is handled, are guarded
	// by mu.
	shelf shelf
	batch []*stored
	calls []*call
}

func newSimulation(t testing.TB, q Queue, queued []Message) *simulation {
	t.Helper()
	s := &simulation{t: t, queue: q, start: time.Now(), report: &RunReport{}}
	s.log = slog.NewTextHandler(t.Output(), nil)
	if q.Options.Logger != nil {
		s.log = q.Options.Logger.Handler()
	}
	s.shelf.queue = q
	jobs := map[string]*JobReport{}
	for i, m := range queued {
		sent := m.Sent
		m = m.withDefaults(numbered(i), q.Name)
		m.Queue, m.Sent = q.Name, sent
		if jobs[m.ID] == nil {
			jobs[m.ID] = &JobReport{ID: m.ID}
			s.report.Jobs = append(s.report.Jobs, jobs[m.ID])
		}
		s.shelf.put(m, jobs[m.ID], s.start)
	}
	s.process = newProcess(s)
	return s
}

// untilIdle invokes the function until the queue is empty, or the test has failed.
func (s *simulation) untilIdle() {
	for !s.t.Failed() {
		if batch := s.receive(); len(batch) > 0 {
			s.invoke(batch)
			s.failOverdue()
			continue
		}
		at, ok := s.shelf.next(time.Now())
		if !ok {
			return
		}
		<-time.After(time.Until(at))
	}
	s.t.FailNow()
}

func (s *simulation) receive() []*stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shelf.receive(time.Now(), s.start)
}

// invoke hands a batch to the function, and deletes what it does not report.
func (s *simulation) invoke(batch []*stored) {
	response, ok := s.handle(s.open(batch))
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok {
		s.process = newProcess(s)
		return
	}
	reported := map[string]bool{}
	for _, failure := range response.BatchItemFailures {
		reported[failure.ItemIdentifier] = true
	}
	for _, m := range batch {
		if !reported[m.message.ID] {
			s.acknowledge(m)
		}
	}
}

// acknowledge deletes a message, unless it is visible again.
func (s *simulation) acknowledge(m *stored) {
	if m.inFlight() {
		m.delivery.Delay = 0
		s.shelf.remove(m)
	}
}

// open makes the event of a batch and lets its deliveries be written down.
func (s *simulation) open(batch []*stored) events.SQSEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	event := events.SQSEvent{Records: make([]events.SQSMessage, len(batch))}
	for i, m := range batch {
		event.Records[i] = m.record()
		s.report.Deliveries = append(s.report.Deliveries, m.delivery)
	}
	s.batch = batch
	return event
}

// handle calls the processor. It is not ok when that has ended its process.
func (s *simulation) handle(event events.SQSEvent) (response events.SQSEventResponse, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), s.queue.Timeout)
	defer cancel()
	defer func() {
		switch value := recover().(type) {
		case nil:
		case messages.InvokeResponse_Error:
			response, ok = events.SQSEventResponse{}, false
		default:
			panic(value)
		}
	}()
	response, err := s.process.processor.Handle(ctx, event)
	if err != nil {
		s.t.Fatalf("the processor refused the event: %v", err)
	}
	return response, true
}

// byReceipt is the message of this batch with that handle; nil if there is none.
func (s *simulation) byReceipt(receipt string) *stored {
	for _, m := range s.batch {
		if m.receipt == receipt {
			return m
		}
	}
	return nil
}
