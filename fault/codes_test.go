package fault_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
)

func sdkError(response *http.Response) error {
	return &smithy.OperationError{ServiceID: "SQS", OperationName: "SendMessage", Err: &awshttp.ResponseError{
		RequestID: "req-1", ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: response}, Err: &smithy.GenericAPIError{Code: "AccessDenied"},
		},
	}}
}

func TestCodesOf(t *testing.T) {
	t.Parallel()
	answer := &http.Response{StatusCode: 422, Header: http.Header{"X-Request-Id": {"req_7"}}}
	for name, tt := range map[string]struct {
		err  error
		want fault.Codes
	}{
		"none":       {nil, fault.Codes{}},
		"plain":      {errors.New("x"), fault.Codes{}},
		"HTTP":       {fault.Permanent(fault.CheckResponse(answer)), fault.Codes{HTTPStatus: 422, RequestID: "req_7"}},
		"SQL":        {fmt.Errorf("insert: %w", stateError("23505")), fault.Codes{SQLState: "23505"}},
		"MySQL":      {mySQL(1062), fault.Codes{SQL: "mysql 1062"}},
		"SQLite":     {&sqliteError{2067}, fault.Codes{SQL: "sqlite 2067"}},
		"SQL Server": {serverError(2627), fault.Codes{SQL: "mssql 2627"}},
		"its own id": {namedRequest{errors.New("x")}, fault.Codes{RequestID: "req-2"}},
		"AWS": {
			sdkError(&http.Response{StatusCode: 403}), fault.Codes{HTTPStatus: 403, AWS: "AccessDenied", RequestID: "req-1"},
		},
		"no answer": {errors.Join(stateError("08006"), sdkError(nil)), fault.Codes{SQLState: "08006"}},
		"outer wins": {
			errors.Join(&fault.HTTPError{Status: 500}, &fault.HTTPError{Status: 404}), fault.Codes{HTTPStatus: 500},
		},
		"long": {stateError(strings.Repeat("é", 100)), fault.Codes{SQLState: strings.Repeat("é", 64)}},
	} {
		if diff := cmp.Diff(tt.want, fault.CodesOf(tt.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// namedRequest is an error that knows its request.
type namedRequest struct{ error }

func (namedRequest) RequestID() string { return "req-2" }

func TestCodesAsTexts(t *testing.T) {
	t.Parallel()
	c := fault.Codes{SQLState: "23505", SQL: "mysql 1062", HTTPStatus: 422, AWS: "ThrottlingException", RequestID: "req_7"}
	want := []string{"422", "ThrottlingException", "23505", "mysql 1062"}
	if diff := cmp.Diff(want, c.All()); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	if got := (&fault.Codes{RequestID: "req_7"}).All(); len(got) > 0 {
		t.Errorf("codes %q of an error with a request id alone, want none", got)
	}
}
