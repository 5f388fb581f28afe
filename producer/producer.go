package producer

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// API has the method of SQS that a [Producer] calls; [*sqs.Client] has it.
type API interface {
	SendMessageBatch(
		ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
}

// KeyAttribute is the name of the message attribute that has the key of a job, unless
// [Options].KeyAttribute has another one.
const KeyAttribute = "idempotency-key"

// traceHeader is the name under which Options.Trace returns an X-Ray trace header.
const traceHeader = "AWSTraceHeader"

// ErrNotTried says that a job was not sent because an earlier one was not: one of its
// message group in a FIFO queue, or one in a call that failed as a whole.
var ErrNotTried = sqssend.ErrNotTried

// SizeError says that a job is larger than its queue takes, after compression if that was
// asked for. It is wrapped in a [*JobError].
type SizeError = sqssend.SizeError

// Options are the settings of a [Producer]. The zero value works.
type Options struct {
	// KeyAttribute is the name of the message attribute that has the key; empty means
	// [KeyAttribute].
	KeyAttribute string
	// GzipFrom is the size in bytes from which a body is sent as gzip in base64, with the
	// attribute content-encoding that envelope.Encoding reads, unless that is larger; 0
	// compresses nothing.
	GzipFrom int
	// ClaimCheck stores a body that is too large for a message and returns where it is:
	// the message has only its address, in the form of the extended client libraries of
	// SQS. The key is that of the job, and may be empty. A second call for the same job must
	// not overwrite the first body, since a message that was sent may refer to it. It must be
	// safe for concurrent use. After an error the job is not sent. Nil refuses such jobs
	// with a [*SizeError].
	ClaimCheck func(ctx context.Context, key, body string) (envelope.Pointer, error)
	// Trace returns the trace context of ctx as message attributes; the value under
	// AWSTraceHeader is sent as the system attribute of that name. What does not fit into a
	// message is left out. It must be safe for concurrent use. tracing.Inject is such a
	// function. Nil adds nothing.
	Trace func(ctx context.Context) map[string]string
	// MaxMessageBytes is the MaximumMessageSize of the queue in bytes, up to 1,048,576 (SQS
	// quotas); 0 means 1,048,576.
	MaxMessageBytes int
}

// Producer sends jobs to one queue. It is safe for concurrent use.
type Producer struct {
	api     API
	queue   sqssend.Queue
	options Options
}

// New returns a Producer for the queue, which is a FIFO queue if its URL ends with ".fifo";
// nil options mean the defaults. The error names what is wrong with api, the URL or an
// option.
func New(api API, queueURL string, o *Options) (*Producer, error) {
	if o == nil {
		o = &Options{}
	}
	if err := sqscall.CheckClient(api); err != nil {
		return nil, fmt.Errorf("producer.New: %w", err)
	}
	u, err := sqscall.ParseURL(queueURL)
	if err != nil {
		return nil, fmt.Errorf("producer.New: the queue: %w", err)
	}
	name := path.Base(u.Path)
	p := &Producer{api: api, options: *o, queue: sqssend.Queue{
		Name: name, URL: queueURL, FIFO: strings.HasSuffix(name, ".fifo"), MaxBytes: o.MaxMessageBytes,
	}}
	p.options.KeyAttribute = cmp.Or(o.KeyAttribute, KeyAttribute)
	if n := o.MaxMessageBytes; n < 0 || n > sqssend.MaxBytes {
		return nil, fmt.Errorf("producer.New: MaxMessageBytes is %d, want up to %d, or 0 for %d",
			n, sqssend.MaxBytes, sqssend.MaxBytes)
	}
	if o.GzipFrom < 0 {
		return nil, fmt.Errorf("producer.New: GzipFrom is %d, want at least 1, or 0 for no compression", o.GzipFrom)
	}
	return p, nil
}
