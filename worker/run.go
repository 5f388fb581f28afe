package worker

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/host"
)

const (
	// deleteGrace is how long the deletion after a batch may take when the worker stops.
	deleteGrace = time.Second
	// settleGrace is how long cancelled batches have to settle their jobs and to delete
	// finished messages. The processor returns within deadline.Grace even if something
	// hangs.
	settleGrace = deadline.Grace + deleteGrace
)

// run is the state of one call of Worker.Run.
type run struct {
	*Worker
	processor *handler.Processor
	slots     *slots
	// polling ends when the worker starts to drain, jobs when running jobs are cancelled.
	polling, jobs context.Context
	drain, cutOff context.CancelFunc

	finished chan struct{} // closed when no loop is left
	crashing sync.Once
	crash    error         // set before crashed is closed
	crashed  chan struct{} // closed by the first crash
}

func newRun(ctx context.Context, w *Worker, p *handler.Processor) *run {
	r := &run{
		Worker: w, processor: p, slots: newSlots(w.options.Batches, p.Concurrency()),
		finished: make(chan struct{}), crashed: make(chan struct{}),
	}
	r.polling, r.drain = context.WithCancel(ctx)
	r.jobs, r.cutOff = context.WithCancel(host.WithDraining(context.WithoutCancel(ctx), r.polling.Done()))
	return r
}

// start starts the poll loops, one for each slot, since each batch may have only one
// message. Each loop has its own poller, which calls the loop's methods.
func (r *run) start(mapping eventsource.Mapping) {
	var loops sync.WaitGroup
	for range r.slots.total {
		l := &loop{run: r, arn: mapping.QueueARN, pulse: r.health.watch()}
		poller := eventsource.New(l, l, mapping, &eventsource.Options{Observe: l.observe})
		loops.Go(func() {
			defer l.end()
			_ = poller.Run(r.polling) // the mapping is valid
		})
	}
	go func() {
		loops.Wait()
		close(r.finished)
	}()
}

// fail ends the run after a panic.
func (r *run) fail(value any) error {
	crash := &CrashError{Value: value}
	if told, ok := value.(messages.InvokeResponse_Error); ok {
		crash.Value = told.Message
	} else {
		crash.Stack = string(debug.Stack())
	}
	attrs := []any{"error", crash.Error()}
	if crash.Stack != "" {
		attrs = append(attrs, "stack", crash.Stack)
	}
	r.options.Logger.Error("worker crashed", attrs...)
	r.crashing.Do(func() {
		r.crash = crash
		close(r.crashed)
	})
	r.drain()
	return crash
}

// wait waits until the worker drains, and then for the running jobs.
func (r *run) wait() error {
	defer r.cutOff()
	<-r.polling.Done()
	limit := time.Now().Add(r.options.Drain)
	r.health.draining.Store(true)
	r.options.Logger.Info("worker draining", "limitSeconds", r.options.Drain.Seconds())
	inTime := r.drained()
	if !inTime {
		r.options.Logger.Warn("running jobs are cut off")
		r.cutOff()
		r.settled()
	}
	r.publisher.stop(r.publishTime(limit))
	select {
	case <-r.crashed:
		return r.crash
	default:
	}
	if !inTime {
		return ErrForced
	}
	r.options.Logger.Info("worker stopped")
	return nil
}

// drained waits for the running jobs and reports whether they ended in time.
func (r *run) drained() bool {
	limit := time.After(r.options.Drain)
	select {
	case <-r.finished:
		return true
	case <-limit:
		return false
	case <-r.crashed:
	}
	select {
	case <-r.finished:
		return true
	case <-limit:
		return false
	case <-time.After(deadline.CrashGrace):
		return false
	}
}

// settled waits until cancelled jobs are settled.
func (r *run) settled() {
	select {
	case <-r.finished:
	case <-time.After(settleGrace):
		r.options.Logger.Warn("batches not settled in time", "limitSeconds", settleGrace.Seconds(),
			"effect", "what they did not settle comes back when its lease and its visibility timeout end")
	}
}

// publishTime returns how long the last metrics may take. The worker must end at the
// limit or soon after it.
func (r *run) publishTime(limit time.Time) time.Duration {
	select {
	case <-r.crashed:
		return crashPublish
	default:
		return min(max(time.Until(limit), crashPublish), lastPublish)
	}
}
