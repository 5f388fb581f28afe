package sqs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Options configures a [Service].
type Options struct {
	// Clock is the source of time; nil means the system clock.
	Clock protocol.Clock
	// Region and Account are used in ARNs and queue URLs.
	Region, Account string
	// Observe is called with each [Event], in the order in which they happened.
	// The calls do not overlap, and are made before the call that caused the
	// event returns. No queue is locked during the call, but Observe must not
	// call the service: it would wait forever. Nil means no calls.
	Observe func(Event)
}

// Service holds the queues of one account in one region. It is safe for
// concurrent use.
type Service struct {
	clock           protocol.Clock
	region, account string
	observe         func(Event)

	reporting sync.Mutex // held while events are reported; must be acquired before mu

	mu       sync.Mutex
	queues   map[string]*queue
	deleted  map[string]deletion
	sequence uint64 // sequence number of the last message sent
	events   []Event
	changed  chan struct{} // closed at the next change; nil while nobody waits
}

// New returns a Service without queues. Nil options are the zero value.
func New(o *Options) *Service {
	var set Options
	if o != nil {
		set = *o
	}
	if set.Clock == nil {
		set.Clock = protocol.SystemClock{}
	}
	return &Service{
		clock:   set.Clock,
		region:  set.Region,
		account: set.Account,
		observe: set.Observe,
		queues:  map[string]*queue{},
		deleted: map[string]deletion{},
	}
}

// operation executes one kind of request.
type operation func(s *Service, ctx context.Context, r *protocol.Request) (any, error)

var operations = map[string]operation{
	"AddPermission":                onQueue((*Service).addPermission),
	"ChangeMessageVisibility":      onQueue((*Service).changeVisibility),
	"ChangeMessageVisibilityBatch": onQueue((*Service).changeVisibilityBatch),
	"CancelMessageMoveTask":        inService((*Service).cancelMove),
	"CreateQueue":                  inService((*Service).createQueue),
	"DeleteMessage":                onQueue((*Service).deleteMessage),
	"DeleteMessageBatch":           onQueue((*Service).deleteMessageBatch),
	"DeleteQueue":                  onQueue((*Service).deleteQueue),
	"GetQueueAttributes":           onQueue((*Service).getAttributes),
	"GetQueueUrl":                  inService((*Service).getQueueURL),
	"ListDeadLetterSourceQueues":   inService((*Service).listDeadLetterSources),
	"ListMessageMoveTasks":         inService((*Service).listMoves),
	"ListQueueTags":                onQueue((*Service).listTags),
	"ListQueues":                   inService((*Service).listQueues),
	"PurgeQueue":                   onQueue((*Service).purgeQueue),
	"RemovePermission":             onQueue((*Service).removePermission),
	"ReceiveMessage":               (*Service).receiveMessage,
	"SendMessage":                  traced((*Service).sendMessage),
	"SendMessageBatch":             traced((*Service).sendMessageBatch),
	"SetQueueAttributes":           onQueue((*Service).setAttributes),
	"StartMessageMoveTask":         inService((*Service).startMove),
	"TagQueue":                     onQueue((*Service).tagQueue),
	"UntagQueue":                   onQueue((*Service).untagQueue),
}

// Operate answers one request. The response marshals to the JSON that AWS
// returns; an error that AWS would return is a [*protocol.Error]. If ctx ends
// during a long poll, its error is returned and no message is received.
func (s *Service) Operate(ctx context.Context, r *protocol.Request) (response any, err error) {
	run, ok := operations[r.Operation]
	if !ok {
		return nil, unknownOperation(r.Operation)
	}
	return run(s, ctx, r)
}

func unknownOperation(name string) error {
	var names []string
	for n := range operations {
		names = append(names, n)
	}
	slices.Sort(names)
	return &protocol.Error{
		Code: "UnknownOperationException",
		Message: fmt.Sprintf("this emulator for SQS does not implement %s; it has %s",
			name, strings.Join(names, ", ")),
	}
}

// target is the part of a request that names its queue.
type target struct {
	QueueURL string `json:"QueueUrl"`
}

func (t target) queueURL() string { return t.QueueURL }

// onQueue makes an operation from a method that works on one queue and needs
// the lock.
func onQueue[In interface{ queueURL() string }, Out any](f func(*Service, *queue, In) (Out, error)) operation {
	return func(s *Service, _ context.Context, r *protocol.Request) (any, error) {
		var in In
		if err := r.Decode(&in); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.unlock()
		q, err := s.find(in.queueURL())
		if err != nil {
			return nil, err
		}
		return f(s, q, in)
	}
}

// traced is onQueue for a method that also gets the tracing header of the request.
func traced[In interface{ queueURL() string }, Out any](
	f func(s *Service, q *queue, in In, trace string) (Out, error),
) operation {
	return func(s *Service, ctx context.Context, r *protocol.Request) (any, error) {
		with := func(s *Service, q *queue, in In) (Out, error) { return f(s, q, in, r.Trace) }
		return onQueue(with)(s, ctx, r)
	}
}

// inService makes an operation from a method that works on the service and
// needs the lock. The method gets the host that the client called.
func inService[In, Out any](f func(s *Service, host string, in In) (Out, error)) operation {
	return func(s *Service, _ context.Context, r *protocol.Request) (any, error) {
		var in In
		if err := r.Decode(&in); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.unlock()
		return f(s, r.Host, in)
	}
}
