package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/redact"
	"github.com/sqsafe/sqsafe/internal/wholebody"
)

// localEndpoint is the default address of sqsafe local.
const localEndpoint = "http://127.0.0.1:4570"

// Account says whether a command calls AWS itself, and with which credentials.
// The default is the local stack: AWS must be requested explicitly, so that
// nothing reaches production by accident.
type Account struct {
	AWS     bool   `name:"aws" help:"AWS itself, with the credentials and region of the AWS configuration."`
	Profile string `placeholder:"NAME" help:"With --aws: profile of the AWS configuration."`
	Region  string `placeholder:"NAME" help:"Region; the one of the configuration or the queue's ARN without it."`
}

// check refuses flags that would be without effect.
func (a *Account) check(url string) error {
	if a.Profile != "" && !a.AWS {
		return errors.New("--profile is for AWS itself; add --aws")
	}
	if url != "" {
		return endpoint.CheckURL(url)
	}
	return nil
}

// place is what errors call the service at the endpoint url; empty means none
// was given.
func (a *Account) place(url string) string {
	switch {
	case url != "":
		return url
	case a.AWS:
		return "AWS"
	}
	return localEndpoint
}

// config is for clients of the service at the endpoint url; empty means none
// was given. The region is the queue's own where that is known and no other
// was asked for.
func (a *Account) config(ctx context.Context, url, region string) (aws.Config, error) {
	if a.Region != "" {
		region = a.Region
	}
	c := endpoint.Config(a.place(url))
	if a.AWS {
		var err error
		if c, err = a.configuration(ctx, region); err != nil {
			return aws.Config{}, err
		}
	}
	if region != "" {
		c.Region = region
	}
	return c, nil
}

// configuration returns the configuration of the AWS CLI: variables, profiles,
// roles.
func (a *Account) configuration(ctx context.Context, region string) (aws.Config, error) {
	c, err := config.LoadDefaultConfig(ctx,
		config.WithSharedConfigProfile(a.Profile), config.WithRegion(region), config.WithRetryer(endpoint.Retryer))
	if err != nil {
		return c, fmt.Errorf("AWS configuration: %w", err)
	}
	if c.Region == "" && region == "" {
		return c, errors.New("AWS configuration: it names no region; give --region or set AWS_REGION")
	}
	c.HTTPClient = wholebody.Client(c.HTTPClient)
	return c, nil
}

// explain says what the error of any call means to a user.
func (a *Account) explain(err error, service, url, flag string) error {
	at := redact.URL(a.place(url))
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case endpoint.Refused(err) && at == localEndpoint && url == "":
		return fmt.Errorf("nothing listens at %s; start the stack with sqsafe local, "+
			"or say where %s is with %s or --aws", at, service, flag)
	case endpoint.Refused(err):
		return fmt.Errorf("nothing listens at %s; start the engine there, or give another %s", at, flag)
	}
	return fmt.Errorf("%s at %s: %w", service, at, endpoint.Brief(err))
}

// Target selects the SQS that a command calls.
type Target struct {
	EndpointSQS string `name:"endpoint-sqs" placeholder:"URL" help:"SQS of another engine; the local stack at ${local_endpoint} without it."` //nolint:lll // a struct tag is one line
	Account
}

// Validate refuses flags that would have no effect.
func (t *Target) Validate() error { return t.check(t.EndpointSQS) }

// String returns the name of the target for errors.
func (t *Target) String() string { return redact.URL(t.place(t.EndpointSQS)) }

// client returns a client for queues in that region; empty if it is not known.
func (t *Target) client(ctx context.Context, region string) (*sqs.Client, error) {
	c, err := t.config(ctx, t.EndpointSQS, region)
	if err != nil {
		return nil, err
	}
	return sqs.NewFromConfig(c, func(o *sqs.Options) {
		if t.EndpointSQS != "" {
			o.BaseEndpoint = aws.String(t.EndpointSQS) // overrides one in the environment
		}
	}), nil
}

// explain converts the error of a call into one for users.
func (t *Target) explain(err error, queue string) error {
	if missing, ok := errors.AsType[*types.QueueDoesNotExist](err); ok && missing != nil {
		return &noQueueError{name: queue, place: t.String(), cause: missing}
	}
	return t.Account.explain(err, "SQS", t.EndpointSQS, "--endpoint-sqs")
}
