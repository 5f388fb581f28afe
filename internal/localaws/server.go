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
	"github.com/sqsafe/sqsafe/internal/localaws/kms"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/localaws/sts"
)

// maxRequest is more than the longest request that the services accept, a batch
// of 16 MiB in DynamoDB, with space for the JSON around it.
const maxRequest = 32 << 20

// Options configures a [Server]. The zero value works.
type Options struct {
	// Clock is the source of time; nil means the system clock.
	Clock protocol.Clock
	// Region and Account are used in ARNs and queue URLs. Empty means us-east-1
	// and 000000000000.
	Region, Account string
	// Observe is called with every event of the queues; nil means no calls.
	// [sqs.Options] describes its goroutine and order.
	Observe func(sqs.Event)
}

// Server emulates SQS, DynamoDB, CloudWatch and GetCallerIdentity of STS, of one
// account in one region. It is safe for concurrent use.
type Server struct {
	clock    protocol.Clock
	region   string
	queues   *sqs.Service
	identity *sts.Service
	services map[string]service
	faults   faults
}

// operator is a service that answers requests.
type operator interface {
	Operate(ctx context.Context, r *protocol.Request) (response any, err error)
}

// service is a service with the details of its protocol.
type service struct {
	operator
	namespace string            // namespace of the shapes of its errors
	common    map[string]string // errors of another namespace, by their code
	finish    func(h http.Header, err *protocol.Error, body []byte)
	cbor      bool // whether it accepts Smithy RPC v2 CBOR besides JSON
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
	tables := dynamodb.New(set.Clock, set.Region, set.Account)
	metrics := cloudwatch.New(&cloudwatch.Options{Clock: set.Clock, Region: set.Region, Account: set.Account})
	return &Server{
		clock:    set.Clock,
		region:   set.Region,
		queues:   queues,
		identity: sts.New(set.Account),
		services: map[string]service{
			"AmazonSQS": {operator: queues, namespace: "com.amazonaws.sqs", finish: finishQuery(sqs.QueryCode)},
			"DynamoDB_20120810": {
				operator:  tables,
				namespace: "com.amazonaws.dynamodb.v20120810", common: dynamodb.CommonErrors, finish: finishDynamoDB,
			},
			"TrentService": {
				operator:  kms.New(set.Clock.Now(), set.Region, set.Account, tables.KeyID()),
				namespace: "com.amazonaws.kms", finish: finishQuery(func(e *protocol.Error) string { return e.Code }),
			},
			"GraniteServiceVersion20100801": {
				operator: metrics, namespace: "com.amazonaws.cloudwatch", finish: finishQuery(cloudwatch.QueryCode), cbor: true,
			},
		},
	}
}

// SQS returns the queue service, for inspection in the same process.
func (s *Server) SQS() *sqs.Service { return s.queues }

// Region returns the region of the server.
func (s *Server) Region() string { return s.region }

// ServeHTTP answers a call in the AWS JSON protocol or, if the service has it,
// in Smithy RPC v2 CBOR.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		http.Error(w, "localaws: reading the request: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	c, ok := s.route(r)
	if !ok {
		s.serveOthers(w, r, body)
		return
	}
	response, err := s.perform(r, c, body)
	if lost(err) {
		reset(w)
		return
	}
	answer(w, c, response, err)
}

// readBody reads the body of a request, which may be compressed.
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

// perform decodes the request and executes its operation.
func (s *Server) perform(r *http.Request, c call, body []byte) (any, error) {
	text, err := c.codec.toJSON(body)
	if err != nil {
		return nil, &protocol.Error{Code: "SerializationException", Message: c.operation + ": " + err.Error()}
	}
	in := &protocol.Request{Operation: c.operation, Host: r.Host, Trace: r.Header.Get("X-Amzn-Trace-Id"), Body: text}
	return s.operate(r.Context(), c.service, in)
}

// operate executes the operation, and the fault that is set for it.
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

// targets returns the supported prefixes of X-Amz-Target.
func (s *Server) targets() []string {
	var names []string
	for name := range s.services {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
