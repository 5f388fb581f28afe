package dlq

import "github.com/aws/aws-sdk-go-v2/service/sqs/types"

// Open gives the failure record of a message received from a dead-letter queue.
// The receive must have asked for the attribute [AttributeName] or for all. The
// error is [ErrNoRecord] for a message without one, such as those that SQS
// itself moved there, or that of [Decode].
func Open(m types.Message) (Record, error) {
	carried, ok := m.MessageAttributes[AttributeName]
	if !ok || carried.StringValue == nil {
		return Record{}, ErrNoRecord
	}
	return Decode(*carried.StringValue)
}
