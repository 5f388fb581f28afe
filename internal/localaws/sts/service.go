package sts

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
)

// Version is the version of the API, which each request has in its parameter
// Version.
const Version = "2011-06-15"

// served is the operation that the emulator has.
const served = "GetCallerIdentity"

// Service answers for one account. It is safe for concurrent use.
type Service struct{ account string }

// New returns a Service for the account, an id of 12 digits.
func New(account string) *Service { return &Service{account} }

// Serves reports whether a form is a request of STS.
func Serves(form url.Values) bool { return form.Get("Version") == Version }

// Answer writes the answer to a form: status 200, or 400 for another operation than
// GetCallerIdentity.
func (s *Service) Answer(w http.ResponseWriter, form url.Values, requestID string) {
	var body any = identity{
		ARN: "arn:aws:iam::" + s.account + ":root", UserID: s.account, Account: s.account, RequestID: requestID,
	}
	status := http.StatusOK
	if action := form.Get("Action"); action != served {
		status = http.StatusBadRequest
		body = refusal{
			Type: "Sender", Code: "InvalidAction", RequestID: requestID,
			Message: fmt.Sprintf("this emulator for STS does not implement %s; it has %s", action, served),
		}
	}
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("X-Amzn-RequestId", requestID)
	w.WriteHeader(status)
	// A failed write means that the client has closed the connection.
	_ = xml.NewEncoder(w).Encode(body)
}

// identity is the answer of GetCallerIdentity: the caller is the account's owner.
type identity struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ GetCallerIdentityResponse"`
	ARN       string   `xml:"GetCallerIdentityResult>Arn"`
	UserID    string   `xml:"GetCallerIdentityResult>UserId"`
	Account   string   `xml:"GetCallerIdentityResult>Account"`
	RequestID string   `xml:"ResponseMetadata>RequestId"`
}

type refusal struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}
