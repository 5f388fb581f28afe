package deadletters

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// maxAttributes is how many attributes SQS allows a message (SQS quotas).
const maxAttributes = 10

const traceHeader = string(types.MessageSystemAttributeNameForSendsAWSTraceHeader)

// Entry returns the message as an entry of a batch, without id: the same body and
// attributes, group and trace header, the latter without its Lineage part. A
// deduplication id is for FIFO queues.
func (m *Message) Entry(fifo bool, dedupID string) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{MessageBody: &m.Body, MessageAttributes: m.Attributes}
	if g := m.Group(); g != "" {
		e.MessageGroupId = &g
	}
	if fifo {
		e.MessageDeduplicationId = &dedupID
	}
	if header := sqscall.TraceHeader(m.System[traceHeader]); header != "" {
		e.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			traceHeader: {DataType: aws.String("String"), StringValue: &header},
		}
	}
	return e
}

// Plain returns the message as its producer sent it: without the failure record, and with
// the attributes that were displaced by it.
func (m *Message) Plain() *Message {
	record, ok := openRecord(m)
	if !ok {
		return m
	}
	plain := *m
	plain.Attributes = maps.Clone(m.Attributes)
	delete(plain.Attributes, dlq.AttributeName)
	for name, a := range record.Displaced {
		if _, present := plain.Attributes[name]; !present {
			plain.Attributes[name] = types.MessageAttributeValue{
				DataType: aws.String(a.Type), StringValue: a.Value, BinaryValue: a.Binary,
			}
		}
	}
	return &plain
}

// Linked returns a message that SQS moved with a record that names its first id and its
// source, if there is room for one: so a job whose key is the message id stays the same
// job, and the source is not forgotten. [dlq.Restore] takes the record out again.
func (m *Message) Linked(maxBytes int) *Message {
	_, taken := m.Attributes[dlq.AttributeName]
	if taken || len(m.Attributes) >= maxAttributes {
		return m
	}
	record := dlq.Record{
		Version: dlq.Version, MessageID: m.ID, Source: m.Source(), Group: m.Group(),
	}
	room := maxBytes - m.Size() - len(dlq.AttributeName) - len("String")
	text, err := record.Encode(room)
	if err != nil {
		return m
	}
	linked := *m
	linked.Attributes = map[string]types.MessageAttributeValue{}
	maps.Copy(linked.Attributes, m.Attributes)
	linked.Attributes[dlq.AttributeName] = types.MessageAttributeValue{
		DataType: aws.String("String"), StringValue: &text,
	}
	return &linked
}
