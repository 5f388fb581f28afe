package queue

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// EntryError is the refusal of one entry of a batch call that as a whole
// succeeded. It is a [smithy.APIError], so rules for AWS error codes apply to it.
type EntryError struct {
	// Code is the error code, such as ReceiptHandleIsInvalid or RequestThrottled.
	Code string
	// Message explains the code; SQS may leave it out.
	Message string
	// SenderFault tells whether the request was wrong, so that it would be
	// refused again.
	SenderFault bool
}

var _ smithy.APIError = (*EntryError)(nil)

// NewEntryError gives the error that a batch answer tells of.
func NewEntryError(entry types.BatchResultErrorEntry) *EntryError {
	return &EntryError{
		Code:        aws.ToString(entry.Code),
		Message:     aws.ToString(entry.Message),
		SenderFault: entry.SenderFault,
	}
}

// Error gives the code, and the message where there is one.
func (e *EntryError) Error() string {
	if e.Message == "" {
		return "SQS refused the entry: " + e.Code
	}
	return "SQS refused the entry: " + e.Code + ": " + e.Message
}

// ErrorCode gives Code.
func (e *EntryError) ErrorCode() string { return e.Code }

// ErrorMessage gives Message.
func (e *EntryError) ErrorMessage() string { return e.Message }

// ErrorFault tells whose fault it is.
func (e *EntryError) ErrorFault() smithy.ErrorFault {
	if e.SenderFault {
		return smithy.FaultClient
	}
	return smithy.FaultServer
}
