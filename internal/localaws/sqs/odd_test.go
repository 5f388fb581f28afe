package sqs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// Requests that no SDK sends get an error that says what is wrong with them.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	const q = `"QueueUrl":"http://localaws/1/q"`
	for name, tt := range map[string]struct {
		operation, body string
		code, text      string
	}{
		"no JSON":               {"SendMessage", `{`, "SerializationException", "SendMessage"},
		"a list":                {"SendMessage", `[]`, "SerializationException", ""},
		"number for a text":     {"SendMessage", `{` + q + `,"MessageBody":1}`, "SerializationException", "MessageBody"},
		"text for a number":     {"ReceiveMessage", `{` + q + `,"WaitTimeSeconds":"1"}`, "SerializationException", ""},
		"fraction of a number":  {"ReceiveMessage", `{` + q + `,"WaitTimeSeconds":1.5}`, "SerializationException", ""},
		"object for a list":     {"DeleteMessageBatch", `{` + q + `,"Entries":{}}`, "SerializationException", "Entries"},
		"nothing":               {"SendMessage", `{}`, "MissingParameter", "QueueUrl"},
		"null for the queue":    {"SendMessage", `{"QueueUrl":null}`, "MissingParameter", "QueueUrl"},
		"null for the body":     {"SendMessage", `{` + q + `,"MessageBody":null}`, "MissingParameter", "MessageBody"},
		"null for a handle":     {"DeleteMessage", `{` + q + `,"ReceiptHandle":null}`, "MissingParameter", "ReceiptHandle"},
		"null for entries":      {"SendMessageBatch", `{` + q + `,"Entries":null}`, "EmptyBatchRequest", ""},
		"an entry of null":      {"DeleteMessageBatch", `{` + q + `,"Entries":[null]}`, "InvalidBatchEntryId", ""},
		"no visibility timeout": {"ChangeMessageVisibility", `{` + q + `,"ReceiptHandle":"x"}`, "MissingParameter", "Visib"},
		"another name":          {"SendMessage", `{"QueueUrl":"r","MessageBody":"x"}`, "QueueDoesNotExist", ""},
		"an invalid URL":        {"SendMessage", `{"QueueUrl":"http://[/1/q","MessageBody":"x"}`, "QueueDoesNotExist", ""},
		"another account":       {"PurgeQueue", `{"QueueUrl":"http://localaws/2/q"}`, "QueueDoesNotExist", ""},
		"a longer path":         {"PurgeQueue", `{"QueueUrl":"http://localaws/1/q/r"}`, "QueueDoesNotExist", ""},
		"no name":               {"GetQueueUrl", `{}`, "MissingParameter", "QueueName"},
		"no ARN":                {"StartMessageMoveTask", `{}`, "MissingParameter", "SourceArn"},
		"not an ARN to list":    {"ListMessageMoveTasks", `{"SourceArn":null}`, "MissingParameter", "SourceArn"},
		"no handle":             {"CancelMessageMoveTask", `{}`, "MissingParameter", "TaskHandle"},
		"no tag keys":           {"UntagQueue", `{` + q + `}`, "MissingParameter", "TagKeys"},
		"unknown source queue":  {"ListDeadLetterSourceQueues", `{}`, "MissingParameter", "QueueUrl"},
		"no entries to hide":    {"ChangeMessageVisibilityBatch", `{` + q + `}`, "EmptyBatchRequest", ""},
		"queue without a name":  {"CreateQueue", `{}`, "MissingParameter", "QueueName"},
		"queue changed to FIFO": {"SetQueueAttributes", `{` + q + `,"Attributes":{"FifoQueue":"true"}}`, "InvalidAttr", ""},
		"no attributes":         {"SetQueueAttributes", `{` + q + `}`, "MissingParameter", "Attributes"},
		"invalid binary": {
			"SendMessage",
			`{` + q + `,"MessageBody":"x","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"?"}}}`,
			"SerializationException", "",
		},
		"body in lower case":      {"SendMessage", `{` + q + `,"messagebody":"x"}`, "ValidationException", "is MessageBody"},
		"unknown member":          {"SendMessage", `{` + q + `,"MessageBody":"x","Priority":1}`, "Validation", "Priority"},
		"entry in lower case":     {"SendMessageBatch", `{` + q + `,"Entries":[{"id":"a"}]}`, "Validation", "there is Id"},
		"tags in upper case":      {"CreateQueue", `{"QueueName":"r","Tags":{}}`, "ValidationException", "there is tags"},
		"operation in lower case": {"sendMessage", `{}`, "UnknownOperationException", "does not implement sendMessage"},
		"no operation":            {"", `{}`, "UnknownOperationException", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sqs.New(&sqs.Options{Region: "us-east-1", Account: "1"})
			_, err := s.Operate(t.Context(), &protocol.Request{Operation: "CreateQueue", Body: []byte(`{"QueueName":"q"}`)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Operate(t.Context(), &protocol.Request{Operation: tt.operation, Body: []byte(tt.body)})
			e, ok := errors.AsType[*protocol.Error](err)
			if !ok || !strings.Contains(e.Code+" "+sqs.QueryCode(e), tt.code) || !strings.Contains(e.Message, tt.text) {
				t.Errorf("got %v, want %s with %q", err, tt.code, tt.text)
			}
			if n := s.Stats()[0]; n.Visible+n.NotVisible+n.Delayed > 0 {
				t.Errorf("a refused request left messages: %+v", n)
			}
		})
	}
}
