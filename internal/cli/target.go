package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/engine"
	"github.com/sqsafe/sqsafe/internal/wholebody"
)

// localEndpoint is where sqsafe local answers if nothing else is asked for.
const localEndpoint = "http://127.0.0.1:4570"

// Target is the SQS that a command talks to: the local stack, unless another is
// asked for by name, so that nothing reaches production by accident.
type Target struct {
	EndpointSQS string `name:"endpoint-sqs" placeholder:"URL" help:"SQS of another engine; the local stack at ${local_endpoint} without it."` //nolint:lll // a struct tag is one line
	AWS         bool   `name:"aws" help:"AWS itself, with the credentials and region of the AWS configuration."`
	Profile     string `placeholder:"NAME" help:"With --aws: profile of the AWS configuration."`
	Region      string `placeholder:"NAME" help:"Region of the queues; the one of the configuration or the queue's ARN without it."` //nolint:lll // a struct tag is one line
}

// Validate refuses flags that would be without effect.
func (t *Target) Validate() error {
	if t.Profile != "" && !t.AWS {
		return errors.New("--profile is for AWS itself; add --aws")
	}
	if t.EndpointSQS != "" {
		return engine.CheckURL(t.EndpointSQS)
	}
	return nil
}

// String is what errors call the target.
func (t *Target) String() string {
	switch {
	case t.EndpointSQS != "":
		return t.EndpointSQS
	case t.AWS:
		return "AWS"
	}
	return localEndpoint
}

// client makes a client. The region is the queue's own where that is known and
// no other was asked for.
func (t *Target) client(ctx context.Context, region string) (*sqs.Client, error) {
	if t.Region != "" {
		region = t.Region
	}
	c := engine.Config(t.String())
	if t.AWS {
		var err error
		if c, err = t.configuration(ctx, region); err != nil {
			return nil, err
		}
	}
	if region != "" {
		c.Region = region
	}
	return sqs.NewFromConfig(c, func(o *sqs.Options) {
		if t.EndpointSQS != "" {
			o.BaseEndpoint = aws.String(t.EndpointSQS)
		}
	}), nil
}

// configuration is that of the AWS CLI: variables, profiles, roles.
func (t *Target) configuration(ctx context.Context, region string) (aws.Config, error) {
	c, err := config.LoadDefaultConfig(ctx,
		config.WithSharedConfigProfile(t.Profile), config.WithRegion(region), config.WithRetryer(engine.Retryer))
	if err != nil {
		return c, fmt.Errorf("AWS configuration: %w", err)
	}
	if c.Region == "" && region == "" {
		return c, errors.New("AWS configuration: it names no region; give --region or set AWS_REGION")
	}
	c.HTTPClient = wholebody.Client(c.HTTPClient)
	return c, nil
}

// explain says what the error of a call means to a user.
func (t *Target) explain(err error, queue string) error {
	missing, isMissing := errors.AsType[*types.QueueDoesNotExist](err)
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case isMissing && missing != nil:
		return fmt.Errorf("there is no queue %s at %s; sqsafe queues lists those that are there", queue, t)
	case engine.Refused(err) && t.EndpointSQS == "" && !t.AWS:
		return fmt.Errorf("nothing listens at %s; start the stack with sqsafe local, "+
			"or say where SQS is with --endpoint-sqs or --aws", t)
	case engine.Refused(err):
		return fmt.Errorf("nothing listens at %s; start the engine there, or give another --endpoint-sqs", t)
	}
	return fmt.Errorf("SQS at %s: %w", t, engine.Brief(err))
}
