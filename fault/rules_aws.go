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
			Match: anyOf(isStruct(awsServerFault), awsCode("InternalError", "InternalFailure", "InternalServerError",
				"ServiceUnavailable", "ServiceUnavailableException"))},
		{ID: "aws.conflict", Reason: ReasonConflict, Class: ClassRetryable,
			Match: awsCode("TransactionConflict", "TransactionConflictException")},
		{ID: "aws.transaction", Reason: ReasonConflict, Class: ClassRetryable,
			Match: transactionContention},
	}
	awsEnvironmentRules = Table{
		{ID: "aws.environment", Reason: ReasonEnvironment, Class: ClassRetryable,
			Match: awsCodePrefix("AccessDenied", "ExpiredToken", "UnrecognizedClient", "ResourceNotFound",
				"NoSuchBucket", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue",
				"InvalidClientTokenId", "InvalidSignature", "IncompleteSignature", "MissingAuthenticationToken",
				"Kms", "KMS.")},
	}
	awsMissingRules = Table{
		{ID: "aws.not_found", Reason: ReasonNotFound, Class: ClassPermanent, Match: awsCode("NoSuchKey", "NotFound")},
	}
	awsRefusedRules = Table{
		{ID: "aws.validation", Reason: ReasonRejected, Class: ClassPermanent, Match: awsCode("ValidationException")},
	}
)

// throttleCodes are those that the AWS SDK for Go retries as throttling, and
// those of SQS for a throttled KMS key.
var throttleCodes = []string{
	"Throttling", "ThrottlingException", "ThrottledException",
	"RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
	"ProvisionedThroughputExceededException", "RequestLimitExceeded", "BandwidthLimitExceeded",
	"LimitExceededException", "SlowDown", "PriorRequestNotComplete",
	"TransactionInProgressException", "EC2ThrottledException",
	"KmsThrottled", "KMS.ThrottlingException",
}

// awsError is met by the errors of every AWS service client.
type awsError interface{ ErrorCode() string }

func awsCode(codes ...string) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e awsError) bool { return slices.Contains(codes, e.ErrorCode()) })
	}
}

func awsCodePrefix(prefixes ...string) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e awsError) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(e.ErrorCode(), p) })
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
