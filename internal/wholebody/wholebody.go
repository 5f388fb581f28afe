// Package wholebody adapts SDK clients for servers on the same machine.
package wholebody

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Client returns a client that reads each request body into memory before next
// sends the request. A nil next means the SDK's own client. It is safe for
// concurrent use if next is.
//
// A server on the same machine may answer before net/http has read the body to
// its end, and the SDK closes the body when the response begins. net/http then
// reports a successful call as failed, and the SDK's retry sends it twice. A
// body in memory has a known length, which avoids this.
func Client(next aws.HTTPClient) aws.HTTPClient {
	if next == nil {
		next = awshttp.NewBuildableClient()
	}
	return client{next}
}

type client struct{ next aws.HTTPClient }

// Do sends the request with its body read into memory.
func (c client) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return c.next.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return c.next.Do(r)
}
