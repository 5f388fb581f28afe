package handlertest

import (
	"encoding/json"

	"github.com/sqsafe/sqsafe/handler"
)

// recordAttribute is the message attribute that holds the record of a dead
// letter. Package dlq reads and writes it, but links the SDK.
const recordAttribute = "sqsafe"

// record is the part of it that a later delivery needs.
type record struct {
	Version   int    `json:"version"`
	Key       string `json:"key,omitempty"`
	Epoch     int    `json:"epoch"`
	Verdict   bool   `json:"verdict"`
	MessageID string `json:"messageId"`
}

// Replayed is the message that a replay of the dead letter sends: the same body
// and attributes under a new id, with the record of its death.
func Replayed(letter handler.Letter) Message {
	dead := letter.Message
	replay := &handler.Replay{
		Key:       letter.Failure.Key,
		Epoch:     letter.Failure.Epoch,
		Verdict:   letter.Failure.Verdict,
		MessageID: dead.MessageId,
	}
	if dead.Replay != nil && dead.Replay.MessageID != "" {
		replay.MessageID = dead.Replay.MessageID
	}
	attributes := map[string]any{}
	for name, a := range dead.MessageAttributes {
		attributes[name] = a
	}
	return Message{
		ID:         dead.MessageId + "-replay",
		Body:       dead.Body,
		Queue:      dead.QueueName(),
		Group:      dead.GroupID(),
		Attributes: attributes,
		Replay:     replay,
	}
}

func encodeReplay(r handler.Replay) string {
	encoded, _ := json.Marshal(record{ // text, numbers and truth values: cannot fail
		Version: 1, Key: r.Key, Epoch: r.Epoch, Verdict: r.Verdict, MessageID: r.MessageID,
	})
	return string(encoded)
}

// restore does what dlq.Restore does with the records that encodeReplay writes.
func restore(m *handler.Message) {
	carried := m.MessageAttributes[recordAttribute].StringValue
	if carried == nil {
		return
	}
	var r record
	if err := json.Unmarshal([]byte(*carried), &r); err != nil || r.Version != 1 {
		return
	}
	delete(m.MessageAttributes, recordAttribute)
	m.Replay = &handler.Replay{Key: r.Key, Epoch: r.Epoch, Verdict: r.Verdict, MessageID: r.MessageID}
}
