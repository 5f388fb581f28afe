package localaws

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"sort"

	"github.com/sqsafe/sqsafe/internal/localaws/cloudwatch"
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

// Server is SQS, DynamoDB and CloudWatch of one account in one region. It is safe for
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
	cbor      bool // whether it speaks Smithy RPC v2 CBOR besides JSON
}

// New returns a Server without queues, tables and metrics. Nil options are the zero value.
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
	metrics := cloudwatch.New(&cloudwatch.Options{Clock: set.Clock, Region: set.Region, Account: set.Account})
	return &Server{
		clock:  set.Clock,
		region: set.Region,
		queues: queues,
		services: map[string]service{
			"AmazonSQS": {queues, "com.amazonaws.sqs", finishQuery(sqs.QueryCode), false},
			"DynamoDB_20120810": {
				dynamodb.New(set.Clock, set.Region, set.Account), "com.amazonaws.dynamodb.v20120810", finishDynamoDB, false,
			},
			"GraniteServiceVersion20100801": {metrics, "com.amazonaws.cloudwatch", finishQuery(cloudwatch.QueryCode), true},
		},
	}
}

// SQS is the queue service, to look into from the same process.
func (s *Server) SQS() *sqs.Service { return s.queues }

// Region is the region that the server stands for.
func (s *Server) Region() string { return s.region }

// ServeHTTP answers a call of the AWS JSON protocol or, where the service has
// it, of Smithy RPC v2 CBOR.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		http.Error(w, "localaws: reading the request: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	c, ok := s.route(r)
	if !ok {
		refuse(w, r, body, s.targets())
		return
	}
	response, err := s.perform(r, c, body)
	if lost(err) {
		reset(w)
		return
	}
	answer(w, c, response, err)
}

// readBody reads a request, which may be compressed.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, maxRequest))
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = io.LimitReader(unpacked, maxRequest+1)
	}
	all, err := io.ReadAll(body)
	if err == nil && len(all) > maxRequest {
		err = errors.New("too large when unpacked")
	}
	return all, err
}

// perform reads the request and runs its operation.
func (s *Server) perform(r *http.Request, c call, body []byte) (any, error) {
	text, err := c.codec.toJSON(body)
	if err != nil {
		return nil, &protocol.Error{Code: "SerializationException", Message: c.operation + ": " + err.Error()}
	}
	in := &protocol.Request{Operation: c.operation, Host: r.Host, Body: text}
	return s.operate(r.Context(), c.service, in)
}

// operate runs the operation, and the fault that is set for it.
func (s *Server) operate(ctx context.Context, svc service, r *protocol.Request) (any, error) {
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
