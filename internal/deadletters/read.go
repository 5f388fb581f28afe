package deadletters

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// ReadOptions configures [Queue.Read]. The zero value works.
type ReadOptions struct {
	// SpendReceives allows to read a queue with a redrive policy of its own, where each
	// look counts as a receive.
	SpendReceives bool
	// Timeout is how long a message is hidden after its receive, in whole seconds up to 12
	// hours; 0 means long enough to read what the queue holds.
	Timeout time.Duration
	// Observe is called with the number of messages read so far; nil means no calls.
	Observe func(read int)
}

// Reading is what a [Queue.Read] found.
type Reading struct {
	// Hold has the messages. It must be released.
	Hold *Hold
	// Read is the number of messages that were read.
	Read int
	// Behind is about how many visible messages were not read: in a FIFO queue those that
	// stand behind the first ten of their group.
	Behind int
	// Hidden is about how many messages others hide, such as another look, or a receive
	// whose answer was lost.
	Hidden int
}

const (
	// releaseTime bounds the calls that make messages visible again after a failure.
	releaseTime = 10 * time.Second
	// minHold, holdEach and maxHold define how long messages are hidden: long enough to
	// read all of them, and short, since a process that dies releases nothing.
	minHold  = 30 * time.Second
	holdEach = 5 * time.Millisecond
	maxHold  = 15 * time.Minute
	// longPoll is the wait time of a receive. With one SQS asks all of its servers
	// whether they have a message; without, some of them, which will do once as many
	// were read as there should be.
	longPoll = time.Second
	// empties is how many receives without a new message end the reading while the queue
	// should hold more; one is enough otherwise.
	empties = 3
	// perReader is the number of messages for which another reader is worth it.
	perReader = 200
)

// Read receives the visible messages of the queue and calls each with them, one at a time,
// until there are no more or each returns false. After an error the messages are
// visible again. The error is an [*OwnPolicyError] or that of the client.
func (q *Queue) Read(ctx context.Context, o ReadOptions, each func(*Message) bool) (*Reading, error) {
	if q.Target != "" && !o.SpendReceives {
		return nil, &OwnPolicyError{q}
	}
	r := &reader{queue: q, options: o, each: each}
	r.hold = &Hold{queue: q, timeout: o.Timeout, held: map[string]heldMessage{}}
	if r.hold.timeout == 0 {
		need := minHold + time.Duration(q.Count.Visible)*holdEach
		r.hold.timeout = min(need, maxHold).Truncate(time.Second)
	}
	err := r.run(ctx)
	var count Count
	if err == nil {
		count, err = q.Recount(ctx)
	}
	if err != nil {
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		return nil, errors.Join(err, r.hold.Release(releasing))
	}
	reading := &Reading{Hold: r.hold, Read: r.read}
	if !r.ended {
		reading.Behind, reading.Hidden = count.Visible, max(0, count.InFlight-r.hold.Len())
	}
	return reading, nil
}

// reader reads a queue with several receives at a time.
type reader struct {
	queue   *Queue
	options ReadOptions
	each    func(*Message) bool
	hold    *Hold

	mu    sync.Mutex
	read  int
	ended bool // each returned false
}

// run receives side by side. A FIFO queue has one receive at a time, so that messages of a
// group come in order.
func (r *reader) run(ctx context.Context) error {
	readers := 1
	if !r.queue.FIFO {
		readers = min(1+r.queue.Count.Visible/perReader, parallelCalls)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, readers)
	var running sync.WaitGroup
	for i := range readers {
		running.Go(func() {
			if errs[i] = r.loop(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

func (r *reader) loop(ctx context.Context) error {
	for empty := 0; ; {
		messages, err := r.receive(ctx)
		if err != nil {
			return err
		}
		fresh, more := r.take(messages)
		if empty++; fresh > 0 {
			empty = 0
		}
		if !more || empty >= r.patience() {
			return nil
		}
	}
}

// patience returns how many receives in a row without a new message end the reading.
func (r *reader) patience() int {
	if r.queue.FIFO || r.enough() {
		return 1
	}
	return empties
}

// enough reports whether as many messages were read as the queue should hold.
func (r *reader) enough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read >= r.queue.Count.Visible
}

func (r *reader) receive(ctx context.Context) ([]types.Message, error) {
	wait := longPoll
	if n := r.queue.Count.Visible; n > 0 && r.enough() {
		wait = 0
	}
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &r.queue.URL, MaxNumberOfMessages: sqscall.MaxEntries,
		VisibilityTimeout: int32(r.hold.timeout / time.Second), WaitTimeSeconds: int32(wait / time.Second),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	if r.queue.FIFO { // repeated by the SDK after a lost answer, the receive returns the same messages
		in.ReceiveRequestAttemptId = aws.String(rand.Text())
	}
	out, err := r.queue.client.ReceiveMessage(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// take calls each with the messages that are new, and reports whether it wants more.
func (r *reader) take(messages []types.Message) (fresh int, more bool) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range messages {
		m := newMessage(&messages[i])
		if !r.hold.add(m, now) {
			continue
		}
		fresh++
		r.read++
		if !r.ended && !r.each(m) {
			r.ended = true
		}
	}
	if fresh > 0 && r.options.Observe != nil {
		r.options.Observe(r.read)
	}
	return fresh, !r.ended
}
