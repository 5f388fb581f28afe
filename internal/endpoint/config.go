package endpoint

import (
	"errors"
	"fmt"
	"net/url"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/redact"
	"github.com/sqsafe/sqsafe/internal/wholebody"
)

// Region is the region of the local stack. It is also the default for other
// endpoints.
const Region = "us-east-1"

// CheckURL returns an error unless endpoint is an http or https URL with a host.
func CheckURL(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("endpoint %q: want a URL such as http://127.0.0.1:4566", redact.URL(endpoint))
	}
	return nil
}

// Config returns the configuration of the SDK for the given endpoint. Its access
// keys belong to no account, so that AWS refuses a request that reaches it by
// mistake.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &endpoint,
		HTTPClient:   wholebody.Client(nil),
		Retryer:      Retryer,
	}
}

// Retryer returns the SDK's standard retryer, except that it does not retry a
// refused connection: nothing listens there, and a retry would not change that.
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

// Refused reports whether a call failed because nothing listens at its endpoint.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Brief returns an error of the SDK without the names of its layers: what the
// service answered, or else the innermost cause. It returns other errors as they
// are.
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
