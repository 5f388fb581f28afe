package sqsafe

import (
	"bytes"
	"io"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// wholeBodyClient is for endpoints of one's own, which may be on the same
// machine. These may answer before net/http has seen the end of the request's
// body, and the SDK closes the body with the answer's head: net/http then
// reports a good call as failed, and the SDK's retry sends it twice. A body in
// memory has its end known beforehand.
func wholeBodyClient() *http.Client {
	return &http.Client{Transport: wholeBody{awshttp.NewBuildableClient().GetTransport()}}
}

type wholeBody struct{ next http.RoundTripper }

// RoundTrip sends the request with its body read into memory.
func (w wholeBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return w.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return w.next.RoundTrip(r)
}
