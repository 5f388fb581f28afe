package sqs

import (
	"time"
)

type visibilityInput struct {
	target
	ReceiptHandle     string
	VisibilityTimeout *int
}

func (s *Service) changeVisibility(q *queue, in visibilityInput) (empty, error) {
	if in.VisibilityTimeout == nil {
		return empty{}, missing(visibilityTimeout)
	}
	return empty{}, single(s.hide(q, in.ReceiptHandle, *in.VisibilityTimeout))
}

type visibilityEntry struct {
	ID                string `json:"Id"`
	ReceiptHandle     string
	VisibilityTimeout int // optional in a batch; 0 if it is missing
}

func (e visibilityEntry) id() string { return e.ID }

type visibilityBatchInput struct {
	target
	Entries []visibilityEntry
}

func (s *Service) changeVisibilityBatch(q *queue, in visibilityBatchInput) (*batchOutput, error) {
	if err := checkEntries("ChangeMessageVisibilityBatch", in.Entries, visibilityEntry.id); err != nil {
		return nil, err
	}
	return each(in.Entries, visibilityEntry.id, func(e visibilityEntry) error {
		return s.hide(q, e.ReceiptHandle, e.VisibilityTimeout)
	}), nil
}

// hide sets when a received message becomes visible again. A standard queue
// accepts any handle of the message, even after the visibility timeout and while
// another receive holds the message.
func (s *Service) hide(q *queue, handle string, seconds int) error {
	m, err := q.received(handle)
	if err != nil {
		return err
	}
	if seconds < 0 || seconds > maxVisibility {
		return invalidValue(seconds, visibilityTimeout, "Must be between 0 and 43200, if provided.")
	}
	if m == nil {
		return &receiptError{handle, "Message does not exist or is not available for visibility timeout change"}
	}
	if err := q.expired(m, handle); err != nil {
		return err
	}
	now, timeout := s.clock.Now(), time.Duration(seconds)*time.Second
	if now.Add(timeout).After(m.lastReceive.Add(maxVisibility * time.Second)) {
		return invalidValue(seconds, visibilityTimeout,
			"Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
	}
	q.set(m, inFlight, now.Add(timeout))
	q.advance(now)
	s.record(VisibilityChanged, q, m, timeout, "")
	s.wakeOrSchedule(q)
	return nil
}
