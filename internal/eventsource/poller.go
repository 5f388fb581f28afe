package eventsource

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// API is the part of the SQS client that a poller calls.
type API interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (
		*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (
		*sqs.DeleteMessageBatchOutput, error)
}

// Invoker invokes the function. Several goroutines call it at the same time.
type Invoker interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
}

// Options are optional settings of a [Poller].
type Options struct {
	// Observe is called with the events of batches. Calls do not overlap. Nil
	// means no calls.
	Observe func(Event)
	// Recursion stops loops of messages; nil stops none.
	Recursion *Recursion
}

// Poller runs a mapping. Run may be called again after it has returned, but not
// while it runs.
type Poller struct {
	api     API
	invoker Invoker
	mapping Mapping
	options Options

	criteria  *filter.Criteria // nil means that all messages pass
	observing sync.Mutex
}

// New returns a poller. Nil options are the zero value.
func New(api API, invoker Invoker, mapping Mapping, options *Options) *Poller {
	if options == nil {
		options = &Options{}
	}
	return &Poller{api: api, invoker: invoker, mapping: mapping.withDefaults(), options: *options}
}

// Run polls until ctx ends. Then it stops receiving, finishes the batches that
// it has received, and returns nil. It returns an error only for a mapping that
// [Mapping.Validate] does not accept.
func (p *Poller) Run(ctx context.Context) error {
	if err := p.mapping.Validate(); err != nil {
		return err
	}
	p.criteria, _ = p.mapping.criteria() // the mapping is valid
	var loops sync.WaitGroup
	for range p.mapping.Concurrency {
		loops.Go(func() { p.loop(ctx) })
	}
	loops.Wait()
	return nil
}

func (p *Poller) loop(ctx context.Context) {
	var pause pause
	for ctx.Err() == nil {
		batch, err := p.gather(ctx)
		if len(batch) > 0 {
			p.observe(Event{Kind: Received}, batch)
			p.process(context.WithoutCancel(ctx), batch)
		}
		if err == nil {
			pause.reset()
			continue
		}
		if ctx.Err() == nil {
			d := pause.next()
			p.observe(Event{Kind: ReceiveFailed, Err: err, Pause: d}, nil)
			sleep(ctx, d)
		}
	}
}

func (p *Poller) observe(e Event, batch []delivery) {
	if p.options.Observe == nil {
		return
	}
	e.Time, e.QueueARN = time.Now(), p.mapping.QueueARN
	for _, d := range batch {
		e.Messages = append(e.Messages, d.Message)
	}
	p.observing.Lock()
	defer p.observing.Unlock()
	p.options.Observe(e)
}
