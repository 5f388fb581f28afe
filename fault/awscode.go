package fault

// The codes are those of the services that a job mostly calls: SQS, SNS,
// DynamoDB, S3, Kinesis, Lambda, Step Functions, Secrets Manager, KMS and STS.
var (
	// throttleCodes begin with those that the AWS SDK for Go retries as throttling.
	throttleCodes = []string{
		"Throttling", "ThrottlingException", "ThrottledException",
		"RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "BandwidthLimitExceeded",
		"LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"TransactionInProgressException", "EC2ThrottledException",
		// A KMS key that a service uses has spellings of its own in each.
		"KmsThrottled", "KmsThrottlingException",
		"KMSThrottling", "KMSThrottlingException", "KMS.ThrottlingException",
		"Throttled", "ThrottlingError", "OverLimit",
		"ExecutionLimitExceeded", "ActivityWorkerLimitExceeded",
	}
	// unavailableCodes have some with a status of 4xx: EFSIOException of Lambda
	// comes with 410, IDPCommunicationError of STS with 400.
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
	// environmentPrefixes do not have KMS alone: KMSInvalidSignatureException and
	// KMSInvalidMacException say that the data is forged.
	environmentPrefixes = []string{
		"AccessDenied", "ExpiredToken", "UnrecognizedClient", "ResourceNotFound", "TableNotFound",
		"NoSuchBucket", "QueueDoesNotExist", "NonExistentQueue", "QueueDeletedRecently",
		"InvalidClientTokenId", "InvalidSignature", "IncompleteSignature", "MissingAuthenticationToken",
		"Kms", "KMS.", "KMSAccessDenied", "KMSDisabled", "KMSInvalidKeyUsage", "KMSInvalidState",
		"KMSNotFound", "KMSOptInRequired",
	}
	// environmentCodes are whole, since NotAuthorizedException means a user.
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
