package kms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/kms"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func newService() *kms.Service {
	return kms.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "eu-west-1", "123456789012", "key-1")
}

func ExampleService_Operate() {
	s := newService()
	response, _ := s.Operate(context.Background(), &protocol.Request{
		Operation: "DescribeKey", Body: []byte(`{"KeyId":"alias/aws/dynamodb"}`),
	})
	text, _ := json.Marshal(response)
	fmt.Println(strings.Contains(string(text), `"Arn":"arn:aws:kms:eu-west-1:123456789012:key/key-1"`))
	// Output: true
}

func TestDescribeKey(t *testing.T) {
	t.Parallel()
	for id, found := range map[string]bool{
		"key-1": true, "arn:aws:kms:eu-west-1:123456789012:key/key-1": true, kms.Alias: true,
		"key-2": false, "arn:aws:kms:us-east-1:123456789012:key/key-1": false,
	} {
		_, err := newService().Operate(t.Context(), &protocol.Request{
			Operation: "DescribeKey", Body: []byte(`{"KeyId":"` + id + `"}`),
		})
		if found != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "NotFoundException: ") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestOtherOperationsAreRefusedByName(t *testing.T) {
	t.Parallel()
	_, err := newService().Operate(t.Context(), &protocol.Request{Operation: "Encrypt", Body: []byte(`{}`)})
	if err == nil || !strings.Contains(err.Error(), "the operation Encrypt") {
		t.Errorf("got %v", err)
	}
}
