package fault

// The codes of the services that jobs call most: SQS, SNS, DynamoDB, S3,
// Kinesis, Lambda, Step Functions, Secrets Manager, KMS and STS.
var (
	// throttleCodes starts with the codes that the AWS SDK for Go retries as
	// throttling.
	throttleCodes = []string{
		"Throttling", "ThrottlingException", "ThrottledException",
		"RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "BandwidthLimitExceeded",
		"LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"TransactionInProgressException", "EC2ThrottledException",
		// Services that use a KMS key each spell its codes in their own way.
		"KmsThrottled", "KmsThrottlingException",
		"KMSThrottling", "KMSThrottlingException", "KMS.ThrottlingException",
		"Throttled", "ThrottlingError", "OverLimit",
		"ExecutionLimitExceeded", "ActivityWorkerLimitExceeded",
	}
	// Some unavailableCodes come with a status of 4xx: EFSIOException of Lambda
	// with 410, IDPCommunicationError of STS with 400.
	unavailableCodes = []string{
		"InternalError", "InternalFailure", "InternalServerError", "InternalServiceError",
		"ServiceUnavailable", "ServiceUnavailableException",
		"KMSInternalException", "EFSIOException", "IDPCommunicationError", "RequestAbortedException",
	}
	conflictCodes = []string{
		"TransactionConflict", "TransactionConflictException", "ReplicatedWriteConflictException",
		"ResourceInUseException", "TableInUseException", "ConcurrentModificationException",
		"ConflictException", "ConcurrentAccess", "StaleTag",
		"OperationAborted", "ConditionalRequestConflict", "PurgeQueueInProgress",
	}
	// environmentPrefixes does not contain the prefix KMS:
	// KMSInvalidSignatureException and KMSInvalidMacException say that the data
	// is forged, which is the job's fault.
	environmentPrefixes = []string{
		"AccessDenied", "ExpiredToken", "UnrecognizedClient", "ResourceNotFound", "TableNotFound",
		"NoSuchBucket", "QueueDoesNotExist", "NonExistentQueue", "QueueDeletedRecently",
		"InvalidClientTokenId", "InvalidSignature", "IncompleteSignature", "MissingAuthenticationToken",
		"Kms", "KMS.", "KMSAccessDenied", "KMSDisabled", "KMSInvalidKeyUsage", "KMSInvalidState",
		"KMSNotFound", "KMSOptInRequired",
	}
	// environmentCodes are compared whole: NotAuthorizedException, for one, is
	// about a user.
	environmentCodes = []string{
		"InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthFailure", "AuthorizationError",
		"AuthorizationHeaderMalformed", "InvalidSecurity", "InvalidToken", "TokenRefreshRequired",
		"NotAuthorized", "UnauthorizedOperation", "OptInRequired", "RegionDisabledException",
		"RequestExpired", "RequestTimeTooSkewed",
		"DecryptionFailure", "EncryptionFailure", "DisabledException",
		"InvalidAddress", "InvalidEndpointException", "ParameterNotFound",
		"StateMachineDoesNotExist", "StateMachineDeleting", "ActivityDoesNotExist",
		"PlatformApplicationDisabled", "ServiceQuotaExceededException",
	}
)
