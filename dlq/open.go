package dlq

import "github.com/aws/aws-sdk-go-v2/service/sqs/types"

// Open returns the failure record of a message received from a dead-letter queue. The
// receive must request the attribute [AttributeName] or all attributes. The error is
// [ErrNoRecord] for a message without a record, such as one that SQS itself moved, or
// that of [Decode].
func Open(m types.Message) (Record, error) {
	carried, ok := m.MessageAttributes[AttributeName]
	if !ok || carried.StringValue == nil {
		return Record{}, ErrNoRecord
	}
	return Decode(*carried.StringValue)
}
