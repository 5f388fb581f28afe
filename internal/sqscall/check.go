package sqscall

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// ErrNoClient says that there is no client to call with.
var ErrNoClient = errors.New("the client is nil; give it one, such as sqs.NewFromConfig(cfg)")

// CheckClient returns [ErrNoClient] if api is nil, or a nil client of the SDK.
func CheckClient(api any) error {
	if client, isClient := api.(*sqs.Client); api == nil || isClient && client == nil {
		return ErrNoClient
	}
	return nil
}

// ParseURL reads an absolute URL with the scheme http or https. Its errors do not
// show a password.
func ParseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("the URL is empty")
	}
	u, err := url.Parse(raw)
	if malformed, ok := errors.AsType[*url.Error](err); ok {
		return nil, fmt.Errorf("the URL cannot be read: %w", malformed.Err)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		const problem = "is not a URL that begins with https:// or http:// and a host"
		// A password is known only where the URL has it in its place, and nowhere else.
		if n := strings.Count(raw, "@"); n > 1 || n == 1 && u.User == nil {
			return nil, errors.New("the text " + problem)
		}
		return nil, fmt.Errorf("%q %s", u.Redacted(), problem)
	}
	return u, nil
}
