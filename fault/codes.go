package fault

import (
	"net/http"
	"strconv"
	"strings"
)

// Codes are the codes of an error that machines and support desks know. The zero value has
// none. Its JSON is part of dead letters: members may be added, existing ones do not change.
type Codes struct {
	// SQLState is the SQLSTATE of a database error, such as 23505.
	SQLState string `json:"sqlState,omitempty"`
	// SQL is the database's own number behind its name: "mysql 1062", "sqlite 2067",
	// "mssql 2627".
	SQL string `json:"sql,omitempty"`
	// HTTPStatus is the status of an HTTP response.
	HTTPStatus int `json:"httpStatus,omitempty"`
	// AWS is the code of an error of an AWS service.
	AWS string `json:"aws,omitempty"`
	// RequestID is the id by which the called service knows the request.
	RequestID string `json:"requestId,omitempty"`
}

// All returns the codes as texts, without the request id.
func (c *Codes) All() []string {
	var all []string
	if c.HTTPStatus != 0 {
		all = append(all, strconv.Itoa(c.HTTPStatus))
	}
	for _, code := range []string{c.AWS, c.SQLState, c.SQL} {
		if code != "" {
			all = append(all, code)
		}
	}
	return all
}

// maxCode is how many bytes of a code are kept: a server may send anything.
const maxCode = 128

// CodesOf returns the codes in the chain of err: of each kind the outermost one.
func CodesOf(err error) (c Codes) {
	// Some errors panic in a method when they were made without a response. The codes
	// found so far are worth more than the crash of a job that is dead already.
	defer func() { _ = recover() }()
	for e := range chain(err) {
		c.add(e)
	}
	return c
}

// add adds the codes of one error of a chain, without those below it.
func (c *Codes) add(err error) {
	sql := sqlCodeOf(err)
	first(&c.SQLState, strings.Trim(sql.state, "\x00")) // MySQL sends none with some errors
	first(&c.SQL, sql.vendor())
	if status, ok := err.(interface{ HTTPStatusCode() int }); ok && c.HTTPStatus == 0 {
		c.HTTPStatus = status.HTTPStatusCode()
	}
	if aws, ok := err.(awsError); ok {
		first(&c.AWS, aws.ErrorCode())
	}
	switch id := err.(type) {
	case *HTTPError:
		first(&c.RequestID, id.RequestID)
	case interface{ ServiceRequestID() string }: // of the AWS SDK
		first(&c.RequestID, id.ServiceRequestID())
	case interface{ RequestID() string }:
		first(&c.RequestID, id.RequestID())
	}
}

// first sets code if it has no value.
func first(code *string, value string) {
	if *code == "" {
		*code = strings.ToValidUTF8(value[:min(len(value), maxCode)], "")
	}
}

// vendor returns the database's own number; empty without one.
func (c sqlCode) vendor() string {
	switch {
	case c.mysql != 0:
		return "mysql " + strconv.FormatUint(c.mysql, 10)
	case c.sqlite != 0:
		return "sqlite " + strconv.FormatInt(c.sqlite, 10)
	case c.mssql != 0:
		return "mssql " + strconv.FormatInt(int64(c.mssql), 10)
	default:
		return ""
	}
}

// requestIDHeaders are the headers in which services name a request, the most common ones.
var requestIDHeaders = []string{
	"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "X-Amz-Request-Id", "X-Ms-Request-Id", "X-Correlation-Id",
}

// requestID returns the id by which the service knows the request; empty if it named none.
func requestID(h http.Header) string {
	for _, name := range requestIDHeaders {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}
