package sqsafe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localreport"
	"github.com/sqsafe/sqsafe/internal/redact"
	"github.com/sqsafe/sqsafe/internal/testhost"
	"github.com/sqsafe/sqsafe/internal/wholebody"
	"github.com/sqsafe/sqsafe/metrics"
	"github.com/sqsafe/sqsafe/queue"
)

// Host is how a program that runs jobs reaches AWS; [NewHost] makes it. Lambda functions
// need none, since [Start] makes its own. The worker makes one with the configuration
// that the SDK's config package finds. It is safe for concurrent use.
type Host struct {
	sqs      *sqs.Client
	dynamodb *dynamodb.Client
	lookup   lookupFunc
	report   io.Writer        // to a local host; nil elsewhere
	test     *testhost.Config // nil but in tests of package sqsafetest's
}

// NewHost returns a Host whose clients have the given configuration. Endpoints that the
// environment names, in AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_DYNAMODB or
// AWS_ENDPOINT_URL for both, take the place of AWS's and of cfg's.
func NewHost(cfg aws.Config) *Host {
	test := testhost.From(cfg.ConfigSources)
	if test == nil {
		return newHost(os.LookupEnv, cfg)
	}
	h := newHost(test.LookupEnv, cfg)
	h.test = test
	return h
}

func newHost(lookup lookupFunc, cfg aws.Config) *Host {
	cfg.HTTPClient = keepConnections(cfg.HTTPClient)
	return &Host{
		sqs:      sqs.NewFromConfig(lookup.near(cfg, "SQS")),
		dynamodb: dynamodb.NewFromConfig(lookup.near(cfg, "DYNAMODB"), leaveOutTelemetry),
		lookup:   lookup,
		report:   localreport.Writer(),
	}
}

// keepConnections makes the SDK's own client keep all connections that it has opened. It
// keeps ten for each host otherwise, and with more jobs at a time each batch pays for new
// TLS handshakes. Concurrency bounds how many are opened. A nil client means the SDK's own;
// any other client is the caller's affair.
func keepConnections(client aws.HTTPClient) aws.HTTPClient {
	own, isSDK := client.(*awshttp.BuildableClient)
	switch {
	case client == nil:
		own = awshttp.NewBuildableClient()
	case !isSDK:
		return client
	}
	return own.WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, math.MaxInt
	})
}

// leaveOutTelemetry leaves out two headers that tell AWS of the SDK's attempts, and nothing
// depends on. They are a tenth of what a job sends.
func leaveOutTelemetry(o *dynamodb.Options) {
	leaveOut := middleware.FinalizeMiddlewareFunc("LeaveOutTelemetry", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok {
			r.Header.Del("Amz-Sdk-Invocation-Id")
			r.Header.Del("Amz-Sdk-Request")
		}
		return next.HandleFinalize(ctx, in)
	})
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(leaveOut, "Signing", middleware.Before)
	})
}

// connectTimeout is how long the first connection may take. Nobody waits for it.
const connectTimeout = 5 * time.Second

// connect opens the connection that the first claim will use. A function does that while it
// waits for its first event, when nobody pays for the handshake and for reading the
// certificates. DynamoDB answers the request without credentials; what it says does not
// matter, and neither does an error.
func (h *Host) connect() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	o := h.dynamodb.Options()
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: aws.String(o.Region), Endpoint: o.BaseEndpoint,
	}.WithDefaults())
	if err != nil {
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), http.NoBody)
	if err != nil {
		return
	}
	response, err := o.HTTPClient.Do(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body) // else the connection is not used again
	_ = response.Body.Close()
}

// SQS is the host's client for SQS.
func (h *Host) SQS() *sqs.Client { return h.sqs }

// DynamoDB is the host's client for DynamoDB.
func (h *Host) DynamoDB() *dynamodb.Client { return h.dynamodb }

// near returns cfg with the endpoint of one service where one is set.
func (lookup lookupFunc) near(cfg aws.Config, service string) aws.Config {
	if endpoint := lookup.endpoint(service); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
		cfg.HTTPClient = wholebody.Client(cfg.HTTPClient)
	}
	return cfg
}

// complete adds to the options what the environment says, and what is made with the
// host's clients.
func (h *Host) complete(o *Options) error {
	if o.Logger == nil {
		o.Logger = newLogger(os.Stderr, h.lookup, h.report)
	}
	if h.report != nil {
		o.Logger = reporting(o.Logger, h.report)
	}
	ownURL := o.DeadLetterURL != ""
	if err := readEnvironment(h.lookup, o); err != nil {
		return err
	}
	if o.Restore == nil {
		o.Restore = dlq.Restore
	}
	if o.Ledger == nil {
		ledger, err := idem.New(h.store(o.Table), o.ledgerOptions())
		if err != nil {
			return err
		}
		o.Ledger = ledger
	}
	if o.DeadLetter == nil {
		sender, err := dlq.NewSender(h.sqs, o.DeadLetterURL, &dlq.Options{Logger: o.Logger})
		switch {
		case err != nil && ownURL:
			return fmt.Errorf("option DeadLetterURL: %w", err)
		case err != nil:
			return &InvalidError{
				Name: deadLetterVariable, Value: redact.URL(o.DeadLetterURL),
				Wants: "the URL of the dead-letter queue, as the queue has it, and not its name or ARN",
			}
		}
		o.DeadLetter = sender
	}
	if o.Queue == nil {
		endpoint := aws.ToString(h.sqs.Options().BaseEndpoint)
		source, err := queue.New(h.sqs, &queue.Options{Endpoint: endpoint, Logger: o.Logger})
		if err != nil {
			return err
		}
		o.Queue = source
	}
	return nil
}

// store is what the ledger is kept in.
func (h *Host) store(table string) idem.Store {
	if h.test != nil {
		return h.test.Store
	}
	return dynamo.New(h.dynamodb, table, nil)
}

// metricLines adds the metrics of Lambda functions to the hook of the options.
func (h *Host) metricLines(w io.Writer) Option {
	return func(o *Options) {
		namespace, _ := h.lookup(namespaceVariable)
		if namespace == metricsOff {
			return
		}
		logger := cmp.Or(o.Logger, newLogger(os.Stderr, h.lookup, h.report))
		if h.report != nil {
			w = h.report
		}
		write := metrics.Lines(w, &metrics.Options{Namespace: namespace, Logger: logger})
		own := o.Hooks.OnBatch
		o.Hooks.OnBatch = func(ctx context.Context, r handler.Report) {
			write(ctx, r)
			if own != nil {
				own(ctx, r)
			}
		}
	}
}
