package system

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	transport "github.com/aws/smithy-go/transport/http"

	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// awsConfig is that of a process's clients. They are those of the SDK with its encoding,
// its checks and its retries, less what only a network needs.
func (p *process) awsConfig() aws.Config {
	cfg := localtest.Config(p.server)
	cfg.HTTPClient = &gate{p}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff = retry.BackoffDelayerFunc(p.sdkBackoff) })
	}
	cfg.APIOptions = []func(*middleware.Stack) error{shorten, func(s *middleware.Stack) error {
		if s.ID() != "ReceiveMessage" {
			return nil
		}
		return s.Initialize.Add(&longPoll{&gate{p}}, middleware.Before)
	}}
	return cfg
}

// shorten takes out of a call what the emulators do not look at: headers, the signature,
// and how the endpoint is found. It was a fifth of the time of a history.
func shorten(s *middleware.Stack) error {
	s.Build.Clear()
	repeating, ok := s.Finalize.Get("Retry")
	if !ok {
		return nil
	}
	s.Finalize.Clear()
	if err := s.Finalize.Add(repeating, middleware.After); err != nil {
		return err
	}
	for _, id := range []string{"AddRawResponseToMetadata", "RecordResponseTiming", "RequestResponseLogger"} {
		_, _ = s.Deserialize.Remove(id) // not every service has each of them
	}
	return s.Finalize.Add(middleware.FinalizeMiddlewareFunc("Address", address), middleware.After)
}

func address(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	if r, ok := in.Request.(*transport.Request); ok {
		r.URL.Scheme, r.URL.Host = "http", "localaws"
	}
	return next.HandleFinalize(ctx, in)
}

// longPoll waits for messages before a receive is made at all. Nearly every poll of a
// history ends without a message, and would cost as much as another call.
type longPoll struct{ *gate }

// ID implements [middleware.InitializeMiddleware].
func (*longPoll) ID() string { return "LongPoll" }

// wholeWay is the share of polls that wait in SQS: the others cannot fail while they wait.
const wholeWay = 0.1

// polling is a receive that is made. Its number is that of its long poll, so that all that
// is drawn for it hangs together: two loops may begin to poll at the same moment.
type polling struct {
	number   int
	attempts atomic.Int32
	// until is when it ends; 0 if SQS says so.
	until time.Duration
}

type pollingKey struct{}

// pollingOf is that of a receive's context.
func pollingOf(ctx context.Context) *polling {
	p, _ := ctx.Value(pollingKey{}).(*polling)
	return p
}

// HandleInitialize implements [middleware.InitializeMiddleware].
func (l *longPoll) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	receive := in.Parameters.(*sqs.ReceiveMessageInput)
	if l.slots > 0 {
		jobs := min(int(receive.MaxNumberOfMessages), l.release.concurrency)
		l.judge.checkPoll(l.process)
		l.judge.polled(l.process, jobs)
		defer l.judge.polled(l.process, -jobs)
	}
	down, _ := l.isDown("queue", l.now())
	name := l.name + receiveName(strconv.Itoa(int(receive.MaxNumberOfMessages)))
	l.turns.take("long poll of " + name)
	p := &polling{number: l.count("long poll of " + name)}
	ctx = context.WithValue(ctx, pollingKey{}, p)
	draws := l.seed.at("long poll %d of %s", p.number, name)
	if down || chance(draws, wholeWay) {
		return next.HandleInitialize(ctx, in)
	}
	p.until = l.now() + time.Duration(receive.WaitTimeSeconds)*time.Second
	for !l.isDead() && ctx.Err() == nil {
		changed := l.untilChange()
		if l.now() >= p.until {
			return middleware.InitializeOutput{Result: &sqs.ReceiveMessageOutput{}}, middleware.Metadata{}, nil
		}
		if l.judge.hasVisible() {
			break
		}
		if err := l.comes(ctx, changed, p.until, lateness(draws)); err != nil {
			break
		}
	}
	return next.HandleInitialize(ctx, in)
}
