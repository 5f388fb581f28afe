// Package wholebody makes SDK clients fit for servers on the same machine.
package wholebody

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Client gives a client that hands net/http each request body in memory; next
// sends it, nil being the SDK's own client. It is as safe for concurrent use as
// next.
//
// A near server may answer before net/http has seen the end of the body, and
// the SDK closes the body with the answer's head: net/http then reports a good
// call as failed, and the SDK's retry sends it twice. A body in memory has its
// end known beforehand.
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
