package dlq

import (
	"encoding/json"

	"github.com/sqsafe/sqsafe/handler"
)

// AttributeName is the name of the message attribute that holds a [Record].
const AttributeName = "sqsafe"

// Version is the version of the records that this package writes.
const Version = 1

// Record is the failure record of a dead-lettered message. [Record.Encode]
// and [Decode] give and take its JSON.
//
//nolint:recvcheck // to read JSON takes a pointer
type Record struct {
	// Version is the version of the format, from 1.
	Version int `json:"version"`
	// Failure is the evidence, as the ledger has it.
	handler.Failure

	// Sent is when the delivered message entered its queue.
	Sent handler.Timestamp `json:"sent,omitzero"`
	// MessageID is the id that the message had when it was first sent. A replay
	// gets a new one from SQS; this one stays.
	MessageID string `json:"messageId"`
	// DeliveredID is the id that the message had when its job died; empty where
	// it is MessageID.
	DeliveredID string `json:"deliveredMessageId,omitempty"`
	// SenderID is who sent the message first, as SQS said: a replay is sent by somebody
	// else.
	SenderID string `json:"senderId,omitempty"`
	// Source is the ARN of the queue that the message came from.
	Source string `json:"sourceQueueArn,omitempty"`
	// Group, DeduplicationID and SequenceNumber are what SQS said of the message.
	Group           string `json:"group,omitempty"`
	DeduplicationID string `json:"deduplicationId,omitempty"`
	SequenceNumber  string `json:"sequenceNumber,omitempty"`

	// Function and FunctionVersion name the Lambda function.
	Function        string `json:"function,omitempty"`
	FunctionVersion string `json:"functionVersion,omitempty"`
	// RequestID is that of the invocation in which the job died.
	RequestID string `json:"requestId,omitempty"`

	// Cut reports whether Stack, History, Message or Types were truncated to fit.
	Cut bool `json:"cut,omitempty"`
	// Displaced are attributes of the message that had to give way, by name.
	Displaced map[string]Attribute `json:"displaced,omitempty"`
}

// document is a record as the attribute holds it. It differs from the ledger's
// JSON of a failure: the history is no object, and long parts come last. The
// fields here take the place of those of the same name further in.
type document struct {
	members
	// Runs is for people; who reads the record counts the history.
	Runs    int               `json:"runs,omitempty"`
	History []handler.Attempt `json:"history,omitempty"`
	Dropped int               `json:"dropped,omitempty"`
	Stack   string            `json:"stack,omitempty"`
}

// members are the fields of a Record without its methods.
type members Record

func (r Record) document() document {
	return document{
		members: members(r), Runs: r.Runs(), History: r.History.Attempts, Dropped: r.History.Dropped, Stack: r.Stack,
	}
}

func (d document) record() Record {
	r := Record(d.members)
	r.History, r.Stack = handler.History{Attempts: d.History, Dropped: d.Dropped}, d.Stack
	return r
}

// MarshalJSON returns the record as the attribute holds it, whole and as it is.
// For SQS, [Record.Encode] makes it fit.
func (r Record) MarshalJSON() ([]byte, error) { return json.Marshal(r.document()) }

// UnmarshalJSON takes what the attribute holds, without the checks of [Decode].
func (r *Record) UnmarshalJSON(data []byte) error {
	var d document
	err := json.Unmarshal(data, &d)
	*r = d.record()
	return err
}
