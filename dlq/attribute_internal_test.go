package dlq

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

func TestAttributeConversions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		event string
		want  *types.MessageAttributeValue
		size  int
	}{
		"String": {
			event: `{"stringValue":"é","stringListValues":[],"binaryListValues":[],"dataType":"String"}`,
			want:  &types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("é")},
			size:  1 + 6 + 2,
		},
		"Number with a label": {
			event: `{"stringValue":"1e3","dataType":"Number.float"}`,
			want:  &types.MessageAttributeValue{DataType: aws.String("Number.float"), StringValue: aws.String("1e3")},
			size:  1 + 12 + 3,
		},
		"Binary": {
			event: `{"binaryValue":"AP8=","stringListValues":[],"binaryListValues":[],"dataType":"Binary.gzip"}`,
			want:  &types.MessageAttributeValue{DataType: aws.String("Binary.gzip"), BinaryValue: []byte{0, 255}},
			size:  1 + 11 + 2,
		},
		"Binary with a text beside": {
			event: `{"binaryValue":"AA==","stringValue":"x","dataType":"Binary"}`,
			want:  &types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: []byte{0}},
			size:  1 + 6 + 1,
		},
		"absent value":     {event: `{"dataType":"String"}`},
		"empty value":      {event: `{"stringValue":"","dataType":"String"}`},
		"empty Binary":     {event: `{"binaryValue":"","dataType":"Binary"}`},
		"text as a Binary": {event: `{"stringValue":"x","dataType":"Binary"}`},
		"unknown type":     {event: `{"stringValue":"x","dataType":"Strings"}`},
		"no type":          {event: `{"stringValue":"x"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var received events.SQSMessageAttribute
			if err := json.Unmarshal([]byte(tt.event), &received); err != nil {
				t.Fatal(err)
			}
			a := newAttribute(received)
			got, ok := a.sendable("n")
			if ok != (tt.want != nil) {
				t.Fatalf("sendable: %v", ok)
			}
			if ok {
				if diff := cmp.Diff(*tt.want, got, cmpopts.IgnoreUnexported(got)); diff != "" {
					t.Errorf("attribute differs (-want +got):\n%s", diff)
				}
				if n := sqssend.Size("n", got); n != tt.size {
					t.Errorf("size %d, want %d", n, tt.size)
				}
			}
			if diff := cmp.Diff(received, throughJSON(t, a).received(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("attribute changed inside a record (-want +got):\n%s", diff)
			}
		})
	}
}

func throughJSON(t *testing.T, a Attribute) Attribute {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Attribute
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back
}
