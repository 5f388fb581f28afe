package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// seen makes every answer seen: nothing is retried. And requests are compressed
// from the size on that the SDK has by default.
func seen(cfg aws.Config) aws.Config {
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	cfg.RequestMinCompressSizeBytes = 10240
	return cfg
}

// localConfig connects clients with emulators of their own.
func localConfig() aws.Config { return seen(localtest.Config(localaws.New(nil))) }

// remoteConfig connects clients with an endpoint, with the credentials of the
// environment or else dummies.
func remoteConfig(endpoint string) aws.Config {
	key, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	token := os.Getenv("AWS_SESSION_TOKEN")
	if key == "" || secret == "" {
		key, secret, token = "test", "test", ""
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return seen(aws.Config{
		Region:       *region,
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider(key, secret, token),
		HTTPClient:   &http.Client{Transport: wholeBody{transport}},
	})
}

// wholeBody hands net/http each request body as bytes in memory.
//
// The SDK closes the body that it gave as soon as it has the head of the
// response. A server on the same machine can answer so fast that net/http is
// still about to look for the end of the body; it then takes the close for a
// failed write and drops the connection under a good response. That is no
// fault of the server.
type wholeBody struct{ next http.RoundTripper }

func (w wholeBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return w.next.RoundTrip(r)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(b))
	r.ContentLength = int64(len(b))
	return w.next.RoundTrip(r)
}
