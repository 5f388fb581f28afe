package dlq_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	value := func(s *string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{dlq.AttributeName: {DataType: aws.String("String"), StringValue: s}}
	}
	tests := map[string]struct {
		attributes map[string]types.MessageAttributeValue
		reason     string
		noRecord   bool
		bad        bool
	}{
		"a record":      {attributes: value(aws.String(`{"version":1,"messageId":"m","reason":"decode"}`)), reason: "decode"},
		"no attributes": {noRecord: true, bad: true},
		"no value":      {attributes: value(nil), noRecord: true, bad: true},
		"of another":    {attributes: value(aws.String(`{}`)), noRecord: true, bad: true},
		"broken":        {attributes: value(aws.String(`{"version":1`)), bad: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := dlq.Open(types.Message{MessageAttributes: tt.attributes})
			if r.Reason != tt.reason || errors.Is(err, dlq.ErrNoRecord) != tt.noRecord || (err != nil) != tt.bad {
				t.Errorf("record %+v, error %v", r, err)
			}
		})
	}
}
