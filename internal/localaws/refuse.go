package localaws

import (
	"encoding/xml"
	"net/http"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// Refuse answers a request with status 403 in its own protocol, such that the SDKs print
// code and message, and do not try again.
func Refuse(w http.ResponseWriter, r *http.Request, code, message string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	form := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if form && r.Header.Get("X-Amz-Target") == "" {
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusForbidden)
		_ = xml.NewEncoder(w).Encode(queryError{Type: "Sender", Code: code, Message: message})
		return
	}
	c := call{service: service{namespace: "sqsafe", finish: finishQuery(sqs.QueryCode)}, codec: awsJSON()}
	if r.Header.Get("Smithy-Protocol") == rpcV2 {
		c.codec = smithyCBOR()
	}
	answer(w, c, nil, &protocol.Error{Code: code, Message: message, Status: http.StatusForbidden})
}
