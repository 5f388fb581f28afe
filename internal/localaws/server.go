package localaws

import (
	"context"
	"io"
	"net/http"
	"sort"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// maxRequest is more than the longest request that the services take, a batch
// of 16 MiB in DynamoDB, with room for the JSON around it.
const maxRequest = 32 << 20

// Options are the settings of a [Server]. The zero value works.
type Options struct {
	// Clock gives the time; nil means the machine's clock.
	Clock protocol.Clock
	// Region and Account are what ARNs and queue URLs name. Empty means
	// us-east-1 and 000000000000.
	Region, Account string
	// Observe is called with what happens in the queues; nil means no calls.
	// [sqs.Options] says from where and in which order.
	Observe func(sqs.Event)
}

// Server is SQS and DynamoDB of one account in one region. It is safe for
// concurrent use.
type Server struct {
	clock    protocol.Clock
	region   string
	queues   *sqs.Service
	services map[string]service
	faults   faults
}

// operator is a service that answers requests.
type operator interface {
	Operate(ctx context.Context, r *protocol.Request) (response any, err error)
}

// service is how a service is spoken to.
type service struct {
	operator
	namespace string // of the shapes of its errors
	finish    func(h http.Header, err *protocol.Error, body []byte)
}

// New returns a Server without queues and tables. Nil options are the zero value.
func New(o *Options) *Server {
	var set Options
	if o != nil {
		set = *o
	}
	if set.Clock == nil {
		set.Clock = protocol.SystemClock{}
	}
	if set.Region == "" {
		set.Region = "us-east-1"
	}
	if set.Account == "" {
		set.Account = "000000000000"
	}
	queues := sqs.New(&sqs.Options{
		Clock: set.Clock, Region: set.Region, Account: set.Account, Observe: set.Observe,
	})
	return &Server{
		clock:  set.Clock,
		region: set.Region,
		queues: queues,
		services: map[string]service{
			"AmazonSQS": {queues, "com.amazonaws.sqs", finishSQS},
			"DynamoDB_20120810": {
				dynamodb.New(set.Clock, set.Region, set.Account), "com.amazonaws.dynamodb.v20120810", finishDynamoDB,
			},
		},
	}
}

// SQS is the queue service, to look into from the same process.
func (s *Server) SQS() *sqs.Service { return s.queues }

// Region is the region that the server stands for.
func (s *Server) Region() string { return s.region }

// ServeHTTP answers a call of the AWS JSON protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "localaws: reading the request: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	prefix, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	svc, known := s.services[prefix]
	if r.Method != http.MethodPost || !known || operation == "" {
		refuse(w, r, body, s.targets())
		return
	}
	request := &protocol.Request{Operation: operation, Host: r.Host, Body: body}
	response, err := s.perform(r.Context(), svc, request)
	if lost(err) {
		reset(w)
		return
	}
	answer(w, svc, response, err)
}

// perform runs the operation, and the fault that is set for it.
func (s *Server) perform(ctx context.Context, svc service, r *protocol.Request) (any, error) {
	fault, ok := s.faults.take(r)
	if !ok {
		return svc.Operate(ctx, r)
	}
	if err := s.sleep(ctx, fault.Delay); err != nil {
		return nil, err
	}
	if len(fault.Entries) > 0 {
		return fault.performEntries(ctx, svc, r)
	}
	if fault.AfterEffect || !fault.fails() {
		response, err := svc.Operate(ctx, r)
		if err != nil || !fault.fails() {
			return response, err
		}
	}
	return nil, fault.err()
}

// targets are the prefixes of X-Amz-Target that are answered.
func (s *Server) targets() []string {
	var names []string
	for name := range s.services {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
