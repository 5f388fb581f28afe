package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sqsafe/sqsafe/fault"
)

// awsError returns an error like those of the SDK's service clients: the code
// of the service inside the response that carried it.
func awsError(code, message string, status int) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "PutItem", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}}
}

// misused returns the error of encoding/json for a target that is not a
// pointer.
func misused(target any) error { return json.Unmarshal([]byte("{}"), target) }

// rawJSON returns the error of encoding/json for decoding the text into a
// struct with a number.
func rawJSON(text string) error {
	var v struct{ N int }
	return json.Unmarshal([]byte(text), &v)
}

// bareCode is an error with a code and nothing else.
type bareCode string

func (e bareCode) Error() string     { return string(e) }
func (e bareCode) ErrorCode() string { return string(e) }

type ruleCase struct {
	err    error
	rule   string
	class  fault.Class
	reason string
}

const (
	unclassified = fault.ClassUnclassified
	retryable    = fault.ClassRetryable
	permanent    = fault.ClassPermanent
)

func payloadCases() []ruleCase {
	return []ruleCase{
		{&fault.DecodeError{Err: io.ErrUnexpectedEOF}, "payload.decode", permanent, "decode"},
		{&fault.DecodeError{Err: errors.New("unknown field")}, "payload.decode", permanent, "decode"},
		{&fault.ValidationError{Err: errors.New("id is missing")}, "payload.validation", permanent, "validation"},
		{rawJSON(`{"N":`), "json.syntax", permanent, "decode"},
		{rawJSON(`{"N":"one"}`), "json.type", permanent, "decode"},
		{&fault.DecodeError{Err: misused(nil)}, "payload.decode", permanent, "decode"},
		{&fault.ValidationError{Err: &InvalidValidationError{}}, "payload.validation", permanent, "validation"},
		{&fault.ValidationError{Err: rawJSON("{")}, "payload.validation", permanent, "validation"},
		{misused(nil), "programmer.json", unclassified, "programmer_fault"},
		{misused(struct{}{}), "programmer.json", unclassified, "programmer_fault"},
		{&InvalidValidationError{}, "programmer.validator", unclassified, "programmer_fault"},
		{ValidationErrors{"id is required"}, "validator.errors", permanent, "validation"},
		{&ValidationError{}, "validator.errors", permanent, "validation"},
	}
}

// Copies of the errors of go-playground/validator and of JSON schema
// validators, with the same names and fields.
type (
	InvalidValidationError struct{ Type reflect.Type }
	ValidationErrors       []string
	ValidationError        struct{}
)

func (*InvalidValidationError) Error() string { return "validator: (nil)" }
func (ValidationErrors) Error() string        { return "validation failed" }
func (*ValidationError) Error() string        { return "does not match the schema" }

func TestTypesNamedLikeKnownErrorsDoNotMatch(t *testing.T) {
	t.Parallel()
	type InvalidValidationError struct {
		error
		Type string
	}
	type GenericAPIError struct {
		error
		Fault string
	}
	for _, err := range []error{
		InvalidValidationError{errBoom, "string"}, GenericAPIError{errBoom, "server"}, faultless(errBoom),
	} {
		if got := fault.Classify(t.Context(), err); got.Rule != fault.RuleUnknown {
			t.Errorf("%T is known to %s", err, got.Rule)
		}
	}
}

func faultless(err error) error {
	type GenericAPIError struct{ error }
	return GenericAPIError{err}
}

func awsCases() []ruleCase {
	cases := []ruleCase{
		{awsError("RequestTimeout", "", 400), "aws.timeout", retryable, "timeout"},
		{awsError("RequestTimeoutException", "", 400), "aws.timeout", retryable, "timeout"},
		{awsError("InternalServerError", "", 500), "aws.unavailable", retryable, "unavailable"},
		{awsError("ServiceUnavailable", "", 503), "aws.unavailable", retryable, "unavailable"},
		{&smithy.GenericAPIError{Code: "OurFaultException", Fault: smithy.FaultServer},
			"aws.unavailable", retryable, "unavailable"},
		{&smithy.GenericAPIError{Code: "YourFaultException", Fault: smithy.FaultClient},
			"unknown", unclassified, "unclassified"},
		{bareCode("NoFaultException"), "unknown", unclassified, "unclassified"},
		{awsError("KMS.DisabledException", "", 502), "aws.environment", retryable, "environment"},
		{bareCode("InternalError"), "aws.unavailable", retryable, "unavailable"},
		{bareCode("InternalFailure"), "aws.unavailable", retryable, "unavailable"},
		{bareCode("InternalServerError"), "aws.unavailable", retryable, "unavailable"},
		{bareCode("ServiceUnavailable"), "aws.unavailable", retryable, "unavailable"},
		{bareCode("ServiceUnavailableException"), "aws.unavailable", retryable, "unavailable"},
		{awsError("TransactionConflict", "", 400), "aws.conflict", retryable, "conflict"},
		{awsError("TransactionConflictException", "", 400), "aws.conflict", retryable, "conflict"},
		{awsError("TransactionCanceledException", "reasons [None, TransactionConflict]", 400),
			"aws.transaction", retryable, "conflict"},
		{awsError("TransactionCanceledException", "reasons [ConditionalCheckFailed, TransactionConflict]", 400),
			"http.4xx", permanent, "rejected"},
		{awsError("TransactionCanceledException", "reasons [ConditionalCheckFailed]", 400),
			"http.4xx", permanent, "rejected"},
		{awsError("ConditionalCheckFailedException", "TransactionConflict", 400), "http.4xx", permanent, "rejected"},
		{awsError("NoSuchKey", "", 404), "aws.not_found", permanent, "not_found"},
		{awsError("NotFound", "", 404), "aws.not_found", permanent, "not_found"},
		{awsError("ValidationException", "", 400), "aws.validation", permanent, "rejected"},
		{awsError("KMSInvalidSignatureException", "", 400), "http.4xx", permanent, "rejected"},
		{awsError("KMSInvalidMacException", "", 400), "http.4xx", permanent, "rejected"},
		{awsError("NotAuthorizedException", "", 400), "http.4xx", permanent, "rejected"},
		{awsError("SomethingNew", "", 503), "http.5xx", retryable, "unavailable"},
		{awsError("SomethingNew", "", 200), "unknown", unclassified, "unclassified"},
	}
	for _, code := range []string{
		"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown",
		"PriorRequestNotComplete", "TransactionInProgressException", "EC2ThrottledException",
		"KmsThrottled", "KmsThrottlingException", "KMSThrottling", "KMSThrottlingException",
		"KMS.ThrottlingException", "Throttled", "ThrottlingError", "OverLimit", "ExecutionLimitExceeded",
		"ActivityWorkerLimitExceeded",
	} {
		cases = append(cases, ruleCase{awsError(code, "", 400), "aws.throttle", retryable, "rate_limited"})
	}
	for _, code := range []string{
		"InternalServiceError", "KMSInternalException", "EFSIOException", "IDPCommunicationError",
		"RequestAbortedException",
	} {
		cases = append(cases, ruleCase{awsError(code, "", 410), "aws.unavailable", retryable, "unavailable"})
	}
	for _, code := range []string{
		"ReplicatedWriteConflictException", "ResourceInUseException", "TableInUseException",
		"ConcurrentModificationException", "ConflictException", "ConcurrentAccess", "StaleTag",
		"OperationAborted", "ConditionalRequestConflict", "PurgeQueueInProgress",
	} {
		cases = append(cases, ruleCase{awsError(code, "", 400), "aws.conflict", retryable, "conflict"})
	}
	for _, code := range []string{
		"AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException",
		"UnrecognizedClientException", "ResourceNotFoundException", "NoSuchBucket", "QueueDoesNotExist",
		"AWS.SimpleQueueService.NonExistentQueue", "InvalidClientTokenId", "InvalidSignatureException",
		"IncompleteSignature", "MissingAuthenticationTokenException", "KmsAccessDenied",
		"KMS.AccessDeniedException", "KMSAccessDenied", "KMSAccessDeniedException", "KMSDisabled",
		"KMSDisabledException", "KMSInvalidKeyUsageException", "KMSInvalidState", "KMSInvalidStateException",
		"KMSNotFound", "KMSNotFoundException", "KMSOptInRequired", "KmsInvalidStateException",
		"DisabledException", "DecryptionFailure", "EncryptionFailure", "InvalidAccessKeyId",
		"SignatureDoesNotMatch", "AuthFailure", "AuthorizationError", "AuthorizationHeaderMalformed",
		"InvalidSecurity", "InvalidToken", "TokenRefreshRequired", "NotAuthorized", "UnauthorizedOperation",
		"OptInRequired", "RegionDisabledException", "RequestExpired", "RequestTimeTooSkewed",
		"InvalidAddress", "InvalidEndpointException", "ParameterNotFound", "TableNotFoundException",
		"QueueDeletedRecently", "StateMachineDoesNotExist", "StateMachineDeleting", "ActivityDoesNotExist",
		"PlatformApplicationDisabled", "ServiceQuotaExceededException",
	} {
		cases = append(cases, ruleCase{awsError(code, "", 400), "aws.environment", retryable, "environment"})
	}
	return cases
}

func fileAndNetworkCases() []ruleCase {
	post := func(err error) error { return &url.Error{Op: "Post", URL: "http://pay.example", Err: err} }
	_, missing := os.Open("no-such-file")
	return []ruleCase{
		{missing, "file.missing", permanent, "not_found"},
		{fs.ErrNotExist, "file.missing", permanent, "not_found"},
		{syscall.ECONNRESET, "net.reset", retryable, "connection"},
		{syscall.EPIPE, "net.reset", retryable, "connection"},
		{syscall.ECONNABORTED, "net.reset", retryable, "connection"},
		{syscall.ENETRESET, "net.reset", retryable, "connection"},
		{syscall.ENOTCONN, "net.reset", retryable, "connection"},
		{syscall.ECONNREFUSED, "net.refused", retryable, "connection"},
		{syscall.ENETUNREACH, "net.unreachable", retryable, "connection"},
		{syscall.EHOSTUNREACH, "net.unreachable", retryable, "connection"},
		{syscall.ENETDOWN, "net.unreachable", retryable, "connection"},
		{syscall.EHOSTDOWN, "net.unreachable", retryable, "connection"},
		{syscall.EADDRNOTAVAIL, "net.exhausted", retryable, "connection"},
		{syscall.EMFILE, "net.exhausted", retryable, "connection"},
		{syscall.ENFILE, "net.exhausted", retryable, "connection"},
		{syscall.ENOBUFS, "net.exhausted", retryable, "connection"},
		{net.ErrClosed, "net.closed", retryable, "connection"},
		{io.ErrUnexpectedEOF, "net.eof", retryable, "connection"},
		{post(io.EOF), "net.eof", retryable, "connection"},
		{io.EOF, "unknown", unclassified, "unclassified"},
		{os.ErrDeadlineExceeded, "net.timeout", retryable, "timeout"},
		{syscall.ETIMEDOUT, "net.timeout", retryable, "timeout"},
		{post(&net.DNSError{Name: "pay.example", IsTimeout: true}), "net.timeout", retryable, "timeout"},
		{post(&net.DNSError{Name: "pay.example", IsNotFound: true}), "dns.not_found", retryable, "environment"},
		{post(&net.DNSError{Name: "pay.example", IsTemporary: true}), "dns.temporary", retryable, "unavailable"},
		{post(&net.DNSError{Name: "pay.example"}), "unknown", unclassified, "unclassified"},
	}
}

func ruleCases() []ruleCase {
	return slices.Concat(payloadCases(), sqlCases(), awsCases(), fileAndNetworkCases())
}

// leafErrors returns errors that the standard rules match.
func leafErrors() []error {
	var errs []error
	for _, c := range ruleCases() {
		if c.rule != fault.RuleUnknown {
			errs = append(errs, c.err)
		}
	}
	return append(errs,
		&fault.HTTPError{Status: 429, Delay: 7 * time.Second}, &fault.HTTPError{Status: 503},
		&fault.HTTPError{Status: 403}, &fault.HTTPError{Status: 404}, &fault.HTTPError{Status: 422},
		fault.RetryAfter(30*time.Second, errors.New("busy")), fault.Permanent(errors.New("gone")))
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range ruleCases() {
		t.Run(fmt.Sprintf("%s/%v", tt.rule, tt.err), func(t *testing.T) {
			t.Parallel()
			want := fault.Decision{Class: tt.class, Reason: tt.reason, Rule: tt.rule}
			for _, err := range []error{
				tt.err,
				fmt.Errorf("charge: %w", fmt.Errorf("call: %w", tt.err)),
				errors.Join(errors.New("boom"), tt.err),
			} {
				if got := fault.Classify(t.Context(), err); got != want {
					t.Errorf("%v:\n got %+v\nwant %+v", err, got, want)
				}
			}
		})
	}
}

func TestEveryHTTPStatusHasItsRule(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		408: "http.408", 409: "http.409", 423: "http.423", 425: "http.425", 429: "http.429",
		401: "http.401", 403: "http.403", 404: "http.404", 410: "http.410",
		501: "http.501", 505: "http.505",
		301: "http.redirect", 302: "http.redirect", 303: "http.redirect", 307: "http.redirect", 308: "http.redirect",
	}
	for status := range 700 {
		rule, ok := want[status]
		switch {
		case ok:
		case status >= 400 && status <= 499:
			rule = "http.4xx"
		case status >= 500 && status <= 599:
			rule = "http.5xx"
		default:
			rule = "unknown"
		}
		if got := fault.Classify(t.Context(), &fault.HTTPError{Status: status}); got.Rule != rule {
			t.Errorf("status %d: rule %q, want %q", status, got.Rule, rule)
		}
	}
}

func TestRuleForOneStatusIsBeforeTheGeneralRules(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, rule := range fault.Rules() {
		status, err := strconv.Atoi(strings.TrimPrefix(rule.ID, "http."))
		if err != nil {
			continue
		}
		checked++
		if got := fault.Classify(t.Context(), &fault.HTTPError{Status: status}); got.Rule != rule.ID {
			t.Errorf("status %d is decided by %q; put %q in front of it", status, got.Rule, rule.ID)
		}
	}
	if checked == 0 {
		t.Error("no rule is named after one status")
	}
}
