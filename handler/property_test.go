package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
)

// history is a random batch and what its surroundings do to it.
type history struct {
	records     []events.SQSMessage
	concurrency int
	timeout     time.Duration
	drain       time.Duration
	queue, hook string // what goes wrong with them
	sendErr     map[string]error
	hideErr     map[string]error
	ahead       bool
	breaker     int
	permanent   bool
}

func drawHistory(t *rapid.T) *history {
	fifo := rapid.Bool().Draw(t, "fifo")
	h := &history{
		concurrency: rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "concurrency"),
		timeout:     rapid.SampledFrom([]time.Duration{0, 5 * time.Second, 30 * time.Second}).Draw(t, "timeout"),
		drain:       rapid.SampledFrom([]time.Duration{0, 0, time.Second, 4 * time.Second}).Draw(t, "drain"),
		queue:       rapid.SampledFrom([]string{"", "", "", "panics", "hangs", "answers too few"}).Draw(t, "queue"),
		hook:        rapid.SampledFrom([]string{"", "", "panics", "hangs"}).Draw(t, "hook"),
		ahead:       rapid.Bool().Draw(t, "claims ahead"),
		breaker:     rapid.SampledFrom([]int{-1, 0, 1}).Draw(t, "breaker"),
		permanent:   rapid.Bool().Draw(t, "panic as permanent"),
		sendErr:     map[string]error{}, hideErr: map[string]error{},
	}
	bodies := []string{
		"good", "1s", "3s reset", "reset", "permanent", "odd", "wait", "environment", "suspect", "suspect 1s reset",
		"duplicate", "busy", "unrecorded", "deferred", "raw", "undecodable", "1h",
	}
	if rapid.Bool().Draw(t, "with crashes") {
		bodies = append(bodies, "boom", "1s boom", "deaf", "suspect boom", "middleware boom", "none")
	}
	for i := range rapid.IntRange(0, 25).Draw(t, "messages") {
		id := fmt.Sprintf("m%d", rapid.IntRange(0, 30).Draw(t, "id"))
		r := received(rapid.IntRange(1, 6).Draw(t, "receives"), record(id, rapid.SampledFrom(bodies).Draw(t, "body")))
		r.ReceiptHandle = fmt.Sprint(i)
		if fifo {
			r = grouped(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), r)
		}
		if rapid.Bool().Draw(t, "has copies") {
			r = copyOf(rapid.SampledFrom([]string{"j1", "j2"}).Draw(t, "job"), r)
		}
		if rapid.Bool().Draw(t, "send fails") {
			h.sendErr[id] = errOdd
		}
		if rapid.Bool().Draw(t, "hide fails") {
			h.hideErr[id] = errOdd
		}
		h.records = append(h.records, r)
	}
	return h
}

// decoder refuses bodies that say so.
func decoder(_ context.Context, m *handler.Message) error {
	if m.Body == "undecodable" {
		return errOdd
	}
	return nil
}

// play runs the history and tells what is wrong with its end; empty if nothing is.
func (h *history) play(t *testing.T) (wrong string) {
	release := make(chan struct{})
	defer close(release)
	s := newScene()
	s.timeout, s.sendErr, s.hideErr = h.timeout, h.sendErr, h.hideErr
	accounted := map[string]bool{} // by receipt handle
	var mu sync.Mutex
	account := func(m *handler.Message) {
		mu.Lock()
		defer mu.Unlock()
		accounted[m.ReceiptHandle] = true
	}
	stages := func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			outcomes := map[string]handler.Outcome{
				"duplicate": handler.OutcomeDuplicate, "busy": handler.OutcomeBusy, "deferred": handler.OutcomeDeferred,
				"unrecorded": handler.OutcomeUnrecorded,
			}
			switch o := outcomes[m.Body]; {
			case m.Body == "middleware boom":
				panic("in middleware")
			case m.Body == "raw":
				return errOdd
			case m.Body == "none":
				return &handler.Result{}
			case o != 0:
				if o == handler.OutcomeDuplicate {
					account(m)
				}
				return &handler.Result{Outcome: o, Delay: time.Second}
			}
			return next(ctx, m)
		}
	}
	job := prepares{look: decoder, run: handler.Func(func(ctx context.Context, m *handler.Message) error {
		if m.Body == "deaf" && h.timeout > 0 {
			<-release
		}
		err := steps(ctx, m)
		if err == nil {
			account(m)
		}
		return err
	})}
	o := s.options
	o.Concurrency, o.MaxReceives, o.Breaker, s.ledger.ahead = h.concurrency, 6, h.breaker, h.ahead
	o.PanicAsPermanent = h.permanent
	o.Middleware = []handler.Middleware{stages}
	s.ledger.duplicate = account
	f := faulty{s.queues, h.queue, release}
	o.DeadLetter, o.Queue = f, f
	bad := func() {
		switch h.hook {
		case "panics":
			panic("hook")
		case "hangs":
			<-release
		}
	}
	var reports []handler.Report
	o.Hooks = handler.Hooks{
		OnError: func(context.Context, *handler.Message, *handler.Result) { bad() },
		OnDead:  func(context.Context, handler.Letter, string) { bad() },
		OnBatch: func(_ context.Context, r handler.Report) {
			mu.Lock()
			reports = append(reports, r)
			mu.Unlock()
			bad()
		},
	}
	if h.drain > 0 {
		stop := time.AfterFunc(h.drain, func() { close(s.draining) })
		defer stop.Stop()
	}
	ctx, cancel := s.context(t)
	defer cancel()
	if h.timeout == 0 {
		time.AfterFunc(2*time.Hour, cancel) // something has to end what hangs
	}
	response, crashed := end(ctx, newProcessor(job, o), h.records)
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	for _, l := range s.letters {
		account(l.Message)
	}
	mu.Lock()
	defer mu.Unlock()
	return h.judge(ctx, s, response, crashed, accounted, reports)
}

// end runs the batch and tells whether it panicked as it should after a crash.
func end(ctx context.Context, p *handler.Processor, records []events.SQSMessage) (
	response *events.SQSEventResponse, crashed bool,
) {
	defer func() {
		if value := recover(); value != nil {
			_, crashed = value.(messages.InvokeResponse_Error)
		}
	}()
	answer, err := p.Handle(ctx, events.SQSEvent{Records: append([]events.SQSMessage{}, records...)})
	if err != nil {
		return nil, false
	}
	return &answer, false
}

func (h *history) judge(
	ctx context.Context, s *scene, response *events.SQSEventResponse, crashed bool, accounted map[string]bool,
	reports []handler.Report,
) string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	all := map[string]bool{} // ids of which every copy is accounted for
	for _, r := range h.records {
		known, seen := all[r.MessageId]
		all[r.MessageId] = accounted[r.ReceiptHandle] && (known || !seen)
	}
	gone := func(id string) bool { return slices.Contains(s.queues.deleted, id) }
	switch {
	case response == nil && !crashed:
		say("neither an answer nor a panic that the runtime understands")
	case response != nil:
		if response.BatchItemFailures == nil {
			say("the list is null")
		}
		back := map[string]bool{}
		for _, f := range response.BatchItemFailures {
			if _, ours := all[f.ItemIdentifier]; !ours || back[f.ItemIdentifier] {
				say("%q is reported twice or is not in the batch", f.ItemIdentifier)
			}
			back[f.ItemIdentifier] = true
		}
		gone = func(id string) bool { return !back[id] }
	}
	for id, fine := range all {
		if gone(id) && !fine {
			say("%s is lost", id)
		}
	}
	for id, hidden := range s.hidden {
		if hidden < time.Second {
			say("%s comes back after %v", id, hidden)
		}
	}
	if h.timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		say("the batch took longer than it has")
	}
	if h.queue == "hangs" || h.hook == "hangs" { // the watchdog may have answered
		return strings.Join(wrong, "; ")
	}
	if lines := strings.Count(s.logLines.String(), `"msg":"outcome"`); lines != len(h.records) {
		say("%d outcomes of %d messages", lines, len(h.records))
	}
	if len(reports) != 1 {
		return strings.Join(append(wrong, fmt.Sprintf("%d reports", len(reports))), "; ")
	}
	counted := 0
	for _, c := range reports[0].Counts {
		counted += c.N
	}
	if counted != len(h.records) || reports[0].Crashed != crashed {
		say("the report counts %d messages, crashed %v", counted, reports[0].Crashed)
	}
	return strings.Join(wrong, "; ")
}

// TestEveryMessageHasOneEnd walks through random batches with copies, FIFO groups,
// faults of both queues, of hooks and of middleware, cuts, drains and crashes.
func TestEveryMessageHasOneEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt)
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = h.play(t) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
