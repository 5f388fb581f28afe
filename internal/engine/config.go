package engine

import (
	"errors"
	"fmt"
	"net/url"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/wholebody"
)

// Region is the region of the local stack and, where nothing else is said, of
// other engines.
const Region = "us-east-1"

// CheckURL tells what is wrong with an endpoint.
func CheckURL(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("endpoint %q: want a URL such as http://127.0.0.1:4566", endpoint)
	}
	return nil
}

// Config is the SDK's configuration for an engine at endpoint. Its keys are
// those of nobody, so that AWS itself refuses what goes there by mistake.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &endpoint,
		HTTPClient:   wholebody.Client(nil),
		Retryer:      Retryer,
	}
}

// Retryer is the SDK's standard one, but for a connection that is refused:
// nothing listens there, and will not in a moment.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		refused := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if errors.Is(err, syscall.ECONNREFUSED) {
				return aws.FalseTernary
			}
			return aws.UnknownTernary
		})
		o.Retryables = append([]retry.IsErrorRetryable{refused}, o.Retryables...)
	})
}

// Refused tells that nothing listens at the endpoint of a call.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Brief is an error of the SDK without the names of its layers: what the
// service answered, or else the innermost cause.
func Brief(err error) error {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("%s: %s", refusal.ErrorCode(), refusal.ErrorMessage())
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	if failed, ok := errors.AsType[*smithy.OperationError](err); ok {
		return failed.Err
	}
	return err
}
