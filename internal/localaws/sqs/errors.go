package sqs

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Some codes of the query protocol have this prefix.
const queryPrefix = "AWS.SimpleQueueService."

// queryCodes maps error shapes to their different codes in the query protocol,
// as the service's model defines them.
var queryCodes = map[string]string{
	"BatchEntryIdsNotDistinct":     queryPrefix + "BatchEntryIdsNotDistinct",
	"BatchRequestTooLong":          queryPrefix + "BatchRequestTooLong",
	"EmptyBatchRequest":            queryPrefix + "EmptyBatchRequest",
	"InvalidBatchEntryId":          queryPrefix + "InvalidBatchEntryId",
	"MessageNotInflight":           queryPrefix + "MessageNotInflight",
	"PurgeQueueInProgress":         queryPrefix + "PurgeQueueInProgress",
	"QueueDeletedRecently":         queryPrefix + "QueueDeletedRecently",
	"QueueDoesNotExist":            queryPrefix + "NonExistentQueue",
	"QueueNameExists":              "QueueAlreadyExists",
	"TooManyEntriesInBatchRequest": queryPrefix + "TooManyEntriesInBatchRequest",
	"UnsupportedOperation":         queryPrefix + "UnsupportedOperation",
}

// QueryCode returns the code of an error in the query protocol, which SQS sends
// in addition to the other, and in the failed entries of a batch.
func QueryCode(e *protocol.Error) string {
	if e.QueryCode != "" {
		return e.QueryCode
	}
	if code, ok := queryCodes[e.Code]; ok {
		return code
	}
	return e.Code
}

// statuses are the HTTP statuses of the errors whose status is not 400.
var statuses = map[string]int{
	"OverLimit":                 http.StatusForbidden,
	"PurgeQueueInProgress":      http.StatusForbidden,
	"ResourceNotFoundException": http.StatusNotFound,
}

func refusal(code, format string, args ...any) *protocol.Error {
	return &protocol.Error{Code: code, Message: fmt.Sprintf(format, args...), Status: statuses[code]}
}

// common returns an error that all AWS services share, which the model of SQS
// does not define.
func common(code, format string, args ...any) *protocol.Error {
	e := refusal("com.amazon.coral.service#"+code+"Exception", format, args...)
	e.QueryCode = code
	return e
}

func invalidParameter(format string, args ...any) *protocol.Error {
	return common("InvalidParameterValue", format, args...)
}

func invalidValue(value any, parameter, reason string) *protocol.Error {
	return invalidParameter("Value %v for parameter %s is invalid. Reason: %s", value, parameter, reason)
}

func missing(parameter string) *protocol.Error {
	e := common("MissingRequiredParameter", "The request must contain the parameter %s.", parameter)
	e.QueryCode = "MissingParameter"
	return e
}

func noQueue() *protocol.Error {
	return refusal("QueueDoesNotExist", "The specified queue does not exist.")
}

// receiptError is the error for a receipt handle that is no longer valid. Its
// message differs between a single call and an entry of a batch.
type receiptError struct{ handle, reason string }

func (e *receiptError) Error() string { return e.reason }

func (e *receiptError) single() error { return invalidValue(e.handle, "ReceiptHandle", e.reason+".") }

// single converts an error for a call that is not a batch.
func single(err error) error {
	if r, ok := errors.AsType[*receiptError](err); ok {
		return r.single()
	}
	return err
}

// batchFailure is a failed entry of a batch.
type batchFailure struct {
	ID          string `json:"Id"`
	SenderFault bool
	Code        string
	Message     string
}

func failure(id string, err error) batchFailure {
	f := batchFailure{ID: id, SenderFault: true, Code: "ReceiptHandleIsInvalid", Message: err.Error()}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		f.Code, f.Message = QueryCode(e), e.Message
	}
	return f
}
