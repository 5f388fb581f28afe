package sqs

type deleteInput struct {
	target
	ReceiptHandle string
}

func (s *Service) deleteMessage(q *queue, in deleteInput) (empty, error) {
	return empty{}, single(s.delete(q, in.ReceiptHandle))
}

type deleteEntry struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

func (e deleteEntry) id() string { return e.ID }

type deleteBatchInput struct {
	target
	Entries []deleteEntry
}

func (s *Service) deleteMessageBatch(q *queue, in deleteBatchInput) (*batchOutput, error) {
	if err := checkEntries("DeleteMessageBatch", in.Entries, deleteEntry.id); err != nil {
		return nil, err
	}
	return each(in.Entries, deleteEntry.id, func(e deleteEntry) error { return s.delete(q, e.ReceiptHandle) }), nil
}

// delete removes a message. In a standard queue any of its handles does, even
// after the visibility timeout and while another receive holds the message.
func (s *Service) delete(q *queue, handle string) error {
	m, err := q.received(handle)
	if err != nil || m == nil {
		return err
	}
	if err := q.expired(m, handle); err != nil {
		return err
	}
	q.remove(m)
	s.record(Deleted, q, m, 0, "")
	s.wakeOrSchedule(q)
	return nil
}
