package localaws

import (
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/localaws/sts"
)

// answer writes the response or the error of an operation.
func answer(w http.ResponseWriter, c call, response any, err error) {
	status := http.StatusOK
	var refusal *protocol.Error
	if err != nil {
		if !errors.As(err, &refusal) {
			refusal = &protocol.Error{
				Code: "InternalFailure", Message: err.Error(), Status: http.StatusInternalServerError,
			}
		}
		if status = refusal.Status; status == 0 {
			status = http.StatusBadRequest
		}
		response = errorBody(c.service, refusal)
	}
	body, err := c.codec.marshal(response)
	if err != nil {
		http.Error(w, "localaws: encoding the response: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", c.codec.contentType)
	if c.codec.smithy != "" {
		h.Set("Smithy-Protocol", c.codec.smithy)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Amzn-RequestId", sqs.NewID())
	c.service.finish(h, refusal, body)
	w.WriteHeader(status)
	// A failed write means that the client has closed the connection.
	_, _ = w.Write(body)
}

func errorBody(s service, e *protocol.Error) map[string]any {
	code, message := e.Code, "message"
	switch namespace, common := s.common[code]; {
	case strings.Contains(code, "#"):
	case common:
		code = namespace + "#" + code
		if namespace == dynamodb.ServiceErrors {
			message = "Message"
		}
	default:
		code = s.namespace + "#" + code
	}
	// AWS uses both message and Message; the SDKs read both.
	body := map[string]any{"__type": code, message: e.Message}
	maps.Copy(body, e.Fields)
	return body
}

// finishQuery adds the error code of the older query protocol, which clients
// still read.
func finishQuery(code func(*protocol.Error) string) func(http.Header, *protocol.Error, []byte) {
	return func(h http.Header, e *protocol.Error, _ []byte) {
		if e == nil {
			return
		}
		fault := "Sender"
		if e.Status >= http.StatusInternalServerError {
			fault = "Receiver"
		}
		h.Set("X-Amzn-Query-Error", code(e)+";"+fault)
	}
}

// finishDynamoDB adds the CRC32 checksum, which clients verify, and an id of the
// form that DynamoDB has: 52 letters and digits.
func finishDynamoDB(h http.Header, _ *protocol.Error, body []byte) {
	h.Set("X-Amzn-RequestId", rand.Text()+rand.Text())
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
}

// serveOthers answers requests in other protocols: it has STS, and refuses what
// is for protocols or services that the server does not have. A request in the
// query protocol is answered in XML, since its clients read nothing else.
func (s *Server) serveOthers(w http.ResponseWriter, r *http.Request, body []byte) {
	const spoken = "localaws speaks the AWS JSON protocol: POST with X-Amz-Target %s, followed by .OPERATION"
	hint := fmt.Sprintf(spoken, strings.Join(s.targets(), " or "))
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		answer(w, call{service: service{finish: finishQuery(sqs.QueryCode)}, codec: awsJSON()}, nil, &protocol.Error{
			Code:    "com.amazon.coral.service#UnknownOperationException",
			Message: fmt.Sprintf("%s is not served; %s", target, hint),
		})
		return
	}
	form, _ := url.ParseQuery(string(body))
	if form.Get("Action") == "" {
		form = r.URL.Query()
	}
	action := form.Get("Action")
	switch {
	case action == "":
		message := fmt.Sprintf("localaws: %s %s is not served; %s", r.Method, r.URL.Path, hint)
		http.Error(w, message, http.StatusNotFound)
	case sts.Serves(form):
		s.identity.Answer(w, form, sqs.NewID())
	default:
		message := fmt.Sprintf("%s in the query protocol is not served: update the SDK or the CLI, "+
			"which speak JSON to SQS since November 2023; %s", action, hint)
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusBadRequest)
		_ = xml.NewEncoder(w).Encode(queryError{Type: "Sender", Code: "UnsupportedProtocol", Message: message})
	}
}

// queryError is an error of the query protocol.
type queryError struct {
	XMLName xml.Name `xml:"ErrorResponse"`
	Type    string   `xml:"Error>Type"`
	Code    string   `xml:"Error>Code"`
	Message string   `xml:"Error>Message"`
}

// reset breaks the connection, so that the client gets ECONNRESET.
func reset(w http.ResponseWriter) {
	if m, ok := w.(*recorder); ok {
		m.reset = true
		return
	}
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// With a linger time of 0, Close sends a TCP reset.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
