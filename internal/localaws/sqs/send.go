package sqs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// maxDelay is the longest delay of a message in seconds (AWS limit).
const maxDelay = 900

// traceHeader is the message system attribute that senders may set.
const traceHeader = "AWSTraceHeader"

// outgoing is a message in a send request, alone or in a batch.
type outgoing struct {
	MessageBody             string
	DelaySeconds            *int
	MessageAttributes       map[string]Attribute
	MessageSystemAttributes map[string]Attribute
	// An id that is present and empty is refused, other than one that is absent.
	MessageDeduplicationID *string `json:"MessageDeduplicationId"`
	MessageGroupID         *string `json:"MessageGroupId"`

	trace   string // the request's tracing header
	inBatch bool
}

type sendInput struct {
	target
	outgoing
}

type sendOutput struct {
	MessageID           string `json:"MessageId"`
	BodyMD5             string `json:"MD5OfMessageBody"`
	AttributesMD5       string `json:"MD5OfMessageAttributes,omitempty"`
	SystemAttributesMD5 string `json:"MD5OfMessageSystemAttributes,omitempty"`
	SequenceNumber      string `json:",omitempty"`
}

func (s *Service) sendMessage(q *queue, in sendInput, trace string) (*sendOutput, error) {
	in.trace = trace
	switch {
	case in.MessageBody == "":
		return nil, missing("MessageBody")
	case q.fifo() && in.MessageGroupID == nil:
		return nil, missing("MessageGroupId")
	}
	return s.send(q, in.outgoing)
}

type sendEntry struct {
	ID string `json:"Id"`
	outgoing
}

type sendBatchInput struct {
	target
	Entries []sendEntry
}

type sendBatchEntry struct {
	ID string `json:"Id"`
	sendOutput
}

type sendBatchOutput struct {
	Successful []sendBatchEntry
	Failed     []batchFailure `json:",omitempty"`
}

func (s *Service) sendMessageBatch(q *queue, in sendBatchInput, trace string) (*sendBatchOutput, error) {
	if err := checkEntries("SendMessageBatch", in.Entries, func(e sendEntry) string { return e.ID }); err != nil {
		return nil, err
	}
	sum := 0
	for i := range in.Entries {
		e := &in.Entries[i]
		if err := q.checkEntry(i, e.outgoing); err != nil {
			return nil, err
		}
		e.trace, e.inBatch = trace, true
		sum += size(e.MessageBody, e.MessageAttributes)
	}
	if sum > maxSize {
		return nil, refusal("BatchRequestTooLong",
			"Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxSize, sum)
	}
	out := &sendBatchOutput{Successful: []sendBatchEntry{}}
	for _, e := range in.Entries {
		sent, err := s.send(q, e.outgoing)
		if err != nil {
			out.Failed = append(out.Failed, failure(e.ID, err))
			continue
		}
		out.Successful = append(out.Successful, sendBatchEntry{e.ID, *sent})
	}
	return out, nil
}

// checkEntry returns an error if an entry lacks something without which SQS
// refuses the whole batch.
func (q *queue) checkEntry(i int, in outgoing) error {
	switch {
	case in.MessageBody == "":
		return missing(fmt.Sprintf("SendMessageBatchRequestEntry.%d.MessageBody", i+1))
	case q.fifo() && in.MessageGroupID == nil:
		return invalidParameter("The request must contain the parameter MessageGroupId.")
	}
	return q.checkDedup(in)
}

// send adds a message to the queue, unless it is a duplicate.
func (s *Service) send(q *queue, in outgoing) (*sendOutput, error) {
	delay, err := q.check(in)
	if err != nil {
		return nil, err
	}
	out := &sendOutput{
		BodyMD5:             bodyDigest(in.MessageBody),
		AttributesMD5:       attributesDigest(in.MessageAttributes),
		SystemAttributesMD5: attributesDigest(in.MessageSystemAttributes),
	}
	now := s.clock.Now()
	m := &message{
		id: NewID(), body: in.MessageBody, bodyMD5: out.BodyMD5, attributes: in.MessageAttributes,
		systemAttributes: in.systemAttributes(), group: optional(in.MessageGroupID), sent: now,
	}
	if q.fifo() {
		m.dedup = q.dedupID(in)
		if first, ok := q.dedup.find(q.dedupKey(m), now); ok {
			out.MessageID, out.SequenceNumber = first.id, first.sequence
			return out, nil
		}
		m.sequence = s.nextSequence()
		q.dedup.add(q.dedupKey(m), m, now)
	}
	q.add(m, now, delay)
	s.record(Sent, q, m, delay, "")
	s.wakeOrSchedule(q)
	out.MessageID, out.SequenceNumber = m.id, m.sequence
	return out, nil
}

// systemAttributes returns the message system attributes. The tracing header of
// the request is one if the request has none.
func (in outgoing) systemAttributes() map[string]Attribute {
	if in.trace == "" || len(in.MessageSystemAttributes) > 0 {
		return in.MessageSystemAttributes
	}
	return map[string]Attribute{traceHeader: {DataType: "String", StringValue: &in.trace}}
}

// optional returns the text, or nothing if it is absent.
func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// check returns the delay of a message, or an error if the queue does not
// accept it.
func (q *queue) check(in outgoing) (time.Duration, error) {
	delay := q.settings.seconds(delaySeconds)
	if in.DelaySeconds != nil {
		n := *in.DelaySeconds
		if q.fifo() && n != 0 {
			return 0, invalidValue(n, delaySeconds,
				"The request include parameter that is not valid for this queue type.")
		}
		if n < 0 || n > maxDelay {
			return 0, invalidValue(n, delaySeconds, "DelaySeconds must be >= 0 and <= 900.")
		}
		if !q.fifo() {
			delay = time.Duration(n) * time.Second
		}
	}
	if err := q.checkIDs(in); err != nil {
		return 0, err
	}
	if err := cmp.Or(checkNoLists(in.MessageAttributes), checkNoLists(in.MessageSystemAttributes)); err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(in.MessageSystemAttributes)) {
		a := in.MessageSystemAttributes[name]
		if name != traceHeader || a.DataType != "String" || a.StringValue == nil || *a.StringValue == "" {
			return 0, invalidParameter("Message system attribute name '%s' is invalid: "+
				"the only one is AWSTraceHeader, of type String.", name)
		}
	}
	if err := q.checkSize(in); err != nil {
		return 0, err
	}
	return delay, checkContent(in.MessageBody, in.MessageAttributes)
}

func (q *queue) checkSize(in outgoing) error {
	limit := q.settings.number(maximumMessageSize)
	if size(in.MessageBody, in.MessageAttributes) <= limit {
		return nil
	}
	wrong := "are invalid"
	if in.inBatch {
		wrong = "cannot be validated"
	}
	return invalidParameter("One or more parameters %s. Reason: Message must be shorter than %d bytes.", wrong, limit)
}

// nextSequence returns a sequence number: 20 digits, greater than all before. It
// begins where those of SQS do.
func (s *Service) nextSequence() string {
	const first = 49_496_460_467_696_128
	s.sequence++
	return fmt.Sprintf("188%017d", first+256*s.sequence)
}
