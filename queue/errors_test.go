package queue_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/queue"
)

func TestEntryError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		entry types.BatchResultErrorEntry
		text  string
		fault smithy.ErrorFault
	}{
		"with a message": {
			types.BatchResultErrorEntry{Code: aws.String("RequestThrottled"), Message: aws.String("slow down")},
			"SQS refused the entry: RequestThrottled: slow down", smithy.FaultServer,
		},
		"without": {
			types.BatchResultErrorEntry{Code: aws.String("ReceiptHandleIsInvalid"), SenderFault: true},
			"SQS refused the entry: ReceiptHandleIsInvalid", smithy.FaultClient,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fmt.Errorf("settle: %w", queue.NewEntryError(tt.entry))
			var api smithy.APIError
			if !errors.As(err, &api) {
				t.Fatal("not found as a smithy.APIError")
			}
			if api.Error() != tt.text {
				t.Errorf("text %q, want %q", api.Error(), tt.text)
			}
			if api.ErrorCode() != aws.ToString(tt.entry.Code) || api.ErrorMessage() != aws.ToString(tt.entry.Message) {
				t.Errorf("code %q, message %q", api.ErrorCode(), api.ErrorMessage())
			}
			if api.ErrorFault() != tt.fault {
				t.Errorf("fault %v, want %v", api.ErrorFault(), tt.fault)
			}
		})
	}
}
