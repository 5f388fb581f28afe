package sqs

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// receipt makes a receipt handle of the message's last receive.
func (q *queue) receipt(m *message) string {
	return base64.StdEncoding.EncodeToString([]byte(q.arn + " " + m.id + " " + strconv.Itoa(m.receives)))
}

// received gives the message of a receipt handle, or nil when it is gone. A
// handle of another queue, or of none, is refused.
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

// expired tells whether a FIFO queue refuses the handle because its receive is
// over; standard queues are not so strict.
func (q *queue) expired(m *message, handle string) error {
	if q.fifo() && (m.handle != handle || m.state != inFlight) {
		return &receiptError{handle, "The receipt handle has expired"}
	}
	return nil
}
