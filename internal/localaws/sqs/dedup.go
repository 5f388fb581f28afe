package sqs

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"time"
)

// dedupInterval is how long a deduplication id is remembered (AWS limit).
const dedupInterval = 5 * time.Minute

// deduplication remembers the messages that were sent to a FIFO queue.
type deduplication struct {
	sent  map[dedupKey]original
	order []dedupKey // by time
}

type dedupKey struct{ id, group string }

type original struct {
	id, sequence string
	at           time.Time
}

// find returns the message that was sent with the key within the interval.
func (d *deduplication) find(k dedupKey, now time.Time) (original, bool) {
	for len(d.order) > 0 && now.Sub(d.sent[d.order[0]].at) >= dedupInterval {
		delete(d.sent, d.order[0])
		d.order = d.order[1:]
	}
	o, ok := d.sent[k]
	return o, ok
}

func (d *deduplication) add(k dedupKey, m *message, now time.Time) {
	if d.sent == nil {
		d.sent = map[dedupKey]original{}
	}
	d.sent[k] = original{m.id, m.sequence, now}
	d.order = append(d.order, k)
}

// dedupID returns the message's deduplication id, or one computed from its
// body.
func (q *queue) dedupID(in outgoing) string {
	if in.MessageDeduplicationID != nil {
		return *in.MessageDeduplicationID
	}
	sum := sha256.Sum256([]byte(in.MessageBody))
	return hex.EncodeToString(sum[:])
}

func (q *queue) dedupKey(m *message) dedupKey {
	k := dedupKey{id: m.dedup}
	if q.scope(m.sent) == "messageGroup" {
		k.group = m.group
	}
	return k
}

// scope returns the deduplication scope in force.
func (q *queue) scope(now time.Time) string {
	if now.Before(q.oldScopeUntil) {
		return q.oldScope
	}
	return q.settings.values[dedupScope]
}

// messageIDs matches valid deduplication and group ids.
var messageIDs = regexp.MustCompile("^[A-Za-z0-9!\"#$%&'()*+,./:;<=>?@\\[\\\\\\]^_`{|}~-]{1,128}$")

// checkIDs returns an error for group and deduplication ids that the queue does
// not accept.
func (q *queue) checkIDs(in outgoing) error {
	const allowed = "can only include alphanumeric and punctuation characters. 1 to 128 in length."
	group, dedup := in.MessageGroupID, in.MessageDeduplicationID
	switch {
	case group != nil && !messageIDs.MatchString(*group):
		return invalidValue(*group, "MessageGroupId", "MessageGroupId "+allowed)
	case dedup != nil && !messageIDs.MatchString(*dedup):
		return invalidValue(*dedup, "MessageDeduplicationId", "MessageDeduplicationId "+allowed)
	case dedup != nil && !q.fifo():
		return invalidValue(*dedup, "MessageDeduplicationId",
			"The request include parameter that is not valid for this queue type.")
	}
	return q.checkDedup(in)
}

// checkDedup returns an error for a message without the deduplication id that
// the queue requires.
func (q *queue) checkDedup(in outgoing) error {
	if q.fifo() && in.MessageDeduplicationID == nil && !q.settings.on(contentBased) {
		return invalidParameter("The queue should either have ContentBasedDeduplication enabled or " +
			"MessageDeduplicationId provided explicitly")
	}
	return nil
}
