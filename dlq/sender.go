package dlq

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// API has the method of SQS that a [Sender] calls; [*sqs.Client] has it.
type API interface {
	SendMessageBatch(
		ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
}

// minBytes is the least that SQS allows as a queue's MaximumMessageSize.
const minBytes = 1 << 10

// Options are the settings of a [Sender]. The zero value works.
type Options struct {
	// MaxMessageBytes is the MaximumMessageSize of the dead-letter queue, in bytes,
	// from 1,024 to 1,048,576 as SQS has it; 0 means 1,048,576.
	MaxMessageBytes int
	// Concurrency is how many calls run at a time, at least 1; 0 means 4. To a FIFO
	// queue it is always one, so that the letters of a group arrive in their order.
	Concurrency int
	// Function and FunctionVersion go into the records; where they are empty,
	// those of the Lambda function do.
	Function        string
	FunctionVersion string
	// Logger gets a warning for a letter that goes without its record; nil means
	// [slog.Default].
	Logger *slog.Logger
}

// Sender sends dead letters to one queue. It is safe for concurrent use.
type Sender struct {
	api             API
	queueURL        string
	fifo            bool
	maxBytes        int
	concurrency     int
	function        string
	functionVersion string
	log             *slog.Logger
}

var _ handler.DeadLetter = (*Sender)(nil)

// NewSender returns a Sender for the queue, which is a FIFO queue if its URL ends
// with ".fifo"; nil options mean the defaults. The error names what is wrong with
// api, the URL or an option.
func NewSender(api API, queueURL string, o *Options) (*Sender, error) {
	if o == nil {
		o = &Options{}
	}
	if err := sqscall.CheckClient(api); err != nil {
		return nil, fmt.Errorf("dlq.NewSender: %w", err)
	}
	if err := checkQueueURL(queueURL); err != nil {
		return nil, fmt.Errorf("dlq.NewSender: the dead-letter queue: %w", err)
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Sender{
		api: api, queueURL: queueURL, fifo: strings.HasSuffix(queueURL, ".fifo"),
		maxBytes:        cmp.Or(o.MaxMessageBytes, sqssend.MaxBytes),
		concurrency:     cmp.Or(o.Concurrency, 4),
		function:        cmp.Or(o.Function, lambdacontext.FunctionName),
		functionVersion: cmp.Or(o.FunctionVersion, lambdacontext.FunctionVersion),
		log:             cmp.Or(o.Logger, slog.Default()),
	}
	return s, nil
}

// checkQueueURL takes what GetQueueUrl answers, on whatever host and port.
func checkQueueURL(queueURL string) error {
	u, err := sqscall.ParseURL(queueURL)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		err = fmt.Errorf("%q names no queue", u.Redacted())
	}
	if err != nil {
		return fmt.Errorf("%w; the URL of a queue is like https://sqs.eu-central-1.amazonaws.com/123456789012/NAME", err)
	}
	return nil
}

// validate returns an error that names the option, its value and the remedy.
func (o *Options) validate() error {
	if n := o.MaxMessageBytes; n != 0 && (n < minBytes || n > sqssend.MaxBytes) {
		return fmt.Errorf("dlq.NewSender: MaxMessageBytes is %d, want from %d to %d, or 0 for %d",
			n, minBytes, sqssend.MaxBytes, sqssend.MaxBytes)
	}
	if o.Concurrency < 0 {
		return fmt.Errorf("dlq.NewSender: Concurrency is %d, want at least 1, or 0 for 4", o.Concurrency)
	}
	return nil
}

// Send sends the letters and sets DeadLetterID or Err of each. Err is a
// [*queue.EntryError], [handler.ErrUnanswered] or the error of the call that
// carried the letter. Only a letter with an id has arrived for certain. A letter
// that fails on the side of SQS is sent up to two times more, within ctx.
//
// To a FIFO queue the letters of a message group go one after the other. Once one
// is not confirmed, those behind it are not sent and have an error that says so.
func (s *Sender) Send(ctx context.Context, letters []handler.Letter) {
	messages, answers := make([]sqssend.Message, len(letters)), make([]sqssend.Answer, len(letters))
	for i, l := range letters {
		messages[i] = s.message(ctx, l)
	}
	if s.fifo {
		answers = sqssend.Send(ctx, s.api, s.queueURL, messages, sqssend.Order{Groups: true})
	} else {
		s.sendBeside(ctx, messages, answers)
	}
	for i, a := range answers {
		letters[i].DeadLetterID, letters[i].Err = a.MessageID, a.Err
	}
}

// sendBeside makes several calls at a time.
func (s *Sender) sendBeside(ctx context.Context, messages []sqssend.Message, answers []sqssend.Answer) {
	var running sync.WaitGroup
	slots := make(chan struct{}, s.concurrency)
	for _, pack := range sqssend.Packs(messages, false) {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			_ = sqssend.Pack(ctx, s.api, s.queueURL, messages, pack, answers) // each answer has the error
		})
	}
	running.Wait()
}
