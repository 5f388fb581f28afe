package sqs

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// receipt returns the receipt handle of the message's last receive.
func (q *queue) receipt(m *message) string {
	// The number has a fixed width, so that no handle is the beginning of another.
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s %s %09d", q.arn, m.id, m.receives))
}

// received returns the message of a receipt handle, or nil if it no longer
// exists. It returns an error for a handle that is invalid or belongs to
// another queue.
func (q *queue) received(handle string) (*message, error) {
	if handle == "" {
		return nil, missing("ReceiptHandle")
	}
	text, err := base64.StdEncoding.DecodeString(handle)
	part := strings.Split(string(text), " ")
	if err != nil || len(part) != 3 || part[0] != q.arn {
		return nil, refusal("ReceiptHandleIsInvalid",
			`The input receipt handle "%s" is not a valid receipt handle.`, handle)
	}
	return q.messages[part[1]], nil
}

// expired returns the error of a FIFO queue for a handle whose visibility
// timeout has ended. Standard queues accept it.
func (q *queue) expired(m *message, handle string) error {
	if q.fifo() && (m.handle != handle || m.state != inFlight) {
		return &receiptError{handle, "The receipt handle has expired"}
	}
	return nil
}
