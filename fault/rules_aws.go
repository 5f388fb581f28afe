package fault

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// These rules read the code of an AWS error. The ones that may contradict the
// HTTP status, which is 400 for most codes, come before the rules on that.
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

// awsError is met by the errors of every AWS service client.
type awsError interface{ ErrorCode() string }

func awsCode(codes ...string) func(context.Context, error) bool {
	return awsCodeWhere(func(code string) bool { return slices.Contains(codes, code) })
}

func awsCodePrefix(prefixes ...string) func(context.Context, error) bool {
	return awsCodeWhere(func(code string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(code, p) })
	})
}

// awsCodeWhere leaves out what SQS put in front of some codes when it spoke
// another protocol; the SDK still gives those.
func awsCodeWhere(accept func(string) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e awsError) bool {
			return accept(strings.TrimPrefix(e.ErrorCode(), "AWS.SimpleQueueService."))
		})
	}
}

// awsServerFault knows an error that the SDK has no type for and that blames the
// service. The types that it has are known by their codes and statuses. They
// have a method for the blame, but a call through reflection would keep that
// method of every type in the binary.
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

// transactionContention knows a DynamoDB transaction that was cancelled only by
// others working on the same items or by throughput. Without the SDK's types the
// causes are found in its message, which lists the code of every item.
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
