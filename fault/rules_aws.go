package fault

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// These rules read the code of an AWS error. Most codes come with the HTTP
// status 400. The rules for codes that may contradict their status come before
// the rules for statuses.
var (
	awsRateRules = Table{
		{ID: "aws.throttle", Reason: ReasonRateLimited, Class: ClassRetryable, Match: awsCode(throttleCodes...)},
	}
	awsServerRules = Table{
		{ID: "aws.timeout", Reason: ReasonTimeout, Class: ClassRetryable,
			Match: awsCode("RequestTimeout", "RequestTimeoutException")},
		{ID: "aws.unavailable", Reason: ReasonUnavailable, Class: ClassRetryable,
			Match: anyOf(isStruct(awsServerFault), awsCode(unavailableCodes...))},
		{ID: "aws.conflict", Reason: ReasonConflict, Class: ClassRetryable, Match: awsCode(conflictCodes...)},
		{ID: "aws.transaction", Reason: ReasonConflict, Class: ClassRetryable,
			Match: transactionContention},
	}
	awsEnvironmentRules = Table{
		{ID: "aws.environment", Reason: ReasonEnvironment, Class: ClassRetryable,
			Match: anyOf(awsCodePrefix(environmentPrefixes...), awsCode(environmentCodes...))},
	}
	awsMissingRules = Table{
		{ID: "aws.not_found", Reason: ReasonNotFound, Class: ClassPermanent, Match: awsCode("NoSuchKey", "NotFound")},
	}
	awsRefusedRules = Table{
		{ID: "aws.validation", Reason: ReasonRejected, Class: ClassPermanent, Match: awsCode("ValidationException")},
	}
)

// awsError is implemented by the errors of every AWS service client.
type awsError interface{ ErrorCode() string }

func awsCode(codes ...string) func(context.Context, error) bool {
	return awsCodeWhere(func(code string) bool { return slices.Contains(codes, code) })
}

func awsCodePrefix(prefixes ...string) func(context.Context, error) bool {
	return awsCodeWhere(func(code string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(code, p) })
	})
}

// awsCodeWhere removes the prefix that SQS put in front of some codes in an
// older protocol; the SDK still returns those.
func awsCodeWhere(accept func(string) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e awsError) bool {
			return accept(strings.TrimPrefix(e.ErrorCode(), "AWS.SimpleQueueService."))
		})
	}
}

// awsServerFault matches an error for which the SDK has no type and which says
// that the service is at fault. Errors with a type are matched by their codes
// and statuses. They also have a method for the fault, but calling it through
// reflection would keep that method of every type in the binary.
func awsServerFault(v reflect.Value) bool {
	if v.Type().Name() != "GenericAPIError" {
		return false
	}
	blame, ok := field(v, "Fault")
	if !ok {
		return false
	}
	who, ok := reflect.TypeAssert[fmt.Stringer](blame)
	return ok && who.String() == "server"
}

// transactionContention matches a DynamoDB transaction that was cancelled only
// because others work on the same items, or by throttling. Without the SDK's
// types the causes are read from the message, which lists the code of every
// item.
func transactionContention(_ context.Context, err error) bool {
	return has(err, func(e interface {
		awsError
		ErrorMessage() string
	}) bool {
		if e.ErrorCode() != "TransactionCanceledException" {
			return false
		}
		mentions := func(code string) bool { return strings.Contains(e.ErrorMessage(), code) }
		return slices.ContainsFunc([]string{
			"TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError",
		}, mentions) && !slices.ContainsFunc([]string{
			"ConditionalCheckFailed", "ItemCollectionSizeLimitExceeded", "ValidationError",
		}, mentions)
	})
}
