package queue

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// EntryError is the error of one entry in a batch call that succeeded. It is a
// [smithy.APIError], so rules for AWS error codes apply to it.
type EntryError struct {
	// Code is the error code, such as ReceiptHandleIsInvalid or RequestThrottled.
	Code string
	// Message explains the code; SQS may leave it out.
	Message string
	// SenderFault reports whether the request was wrong. A retry would fail again.
	SenderFault bool
}

var _ smithy.APIError = (*EntryError)(nil)

// NewEntryError returns the error of an entry in a batch answer.
func NewEntryError(entry types.BatchResultErrorEntry) *EntryError {
	return &EntryError{
		Code:        aws.ToString(entry.Code),
		Message:     aws.ToString(entry.Message),
		SenderFault: entry.SenderFault,
	}
}

// Error returns the code, and the message if there is one.
func (e *EntryError) Error() string {
	if e.Message == "" {
		return "SQS refused the entry: " + e.Code
	}
	return "SQS refused the entry: " + e.Code + ": " + e.Message
}

// ErrorCode returns Code.
func (e *EntryError) ErrorCode() string { return e.Code }

// ErrorMessage returns Message.
func (e *EntryError) ErrorMessage() string { return e.Message }

// ErrorFault reports whether client or server is at fault.
func (e *EntryError) ErrorFault() smithy.ErrorFault {
	if e.SenderFault {
		return smithy.FaultClient
	}
	return smithy.FaultServer
}
