package localaws

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/cbor"
)

// codec encodes and decodes the bodies of a protocol.
type codec struct {
	contentType string
	smithy      string // the value of the header Smithy-Protocol; empty means none
	// toJSON converts the body of a request to JSON, which the operations read.
	toJSON  func(body []byte) ([]byte, error)
	marshal func(v any) ([]byte, error)
}

func awsJSON() codec {
	return codec{
		contentType: "application/x-amz-json-1.0",
		toJSON:      func(body []byte) ([]byte, error) { return body, nil },
		marshal:     json.Marshal,
	}
}

const rpcV2 = "rpc-v2-cbor"

func smithyCBOR() codec {
	return codec{contentType: "application/cbor", smithy: rpcV2, toJSON: cborToJSON, marshal: cbor.Marshal}
}

func cborToJSON(body []byte) ([]byte, error) {
	if len(body) == 0 {
		return []byte("{}"), nil // an operation without input has no body
	}
	return cbor.ToJSON(body)
}

// call is what a request calls: a service, an operation, and the codec of its
// protocol.
type call struct {
	service   service
	operation string
	codec     codec
}

// route returns what a request calls. The AWS JSON protocol names it in the
// header X-Amz-Target, Smithy RPC v2 in the path.
func (s *Server) route(r *http.Request) (c call, ok bool) {
	if r.Method != http.MethodPost {
		return c, false
	}
	var name string
	if r.Header.Get("Smithy-Protocol") == rpcV2 {
		name, c.operation, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/service/"), "/operation/")
		c.codec = smithyCBOR()
	} else {
		name, c.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		c.codec = awsJSON()
	}
	c.service, ok = s.services[name]
	return c, ok && c.operation != "" && (c.codec.smithy == "" || c.service.cbor)
}
