package system

import (
	"slices"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// checkRecord checks that the record of a letter tells the truth about message and job. The
// world is locked.
func (j *judge) checkRecord(l *letter) {
	r, about := l.record, []string{keyOf(l.name)}
	wrong := func(format string, args ...any) {
		j.w.breaksLocked("record", about, "the record of "+l.name+" "+format, args...)
	}
	delivered := r.DeliveredID
	if delivered == "" {
		delivered = r.MessageID
	}
	m := j.messages[delivered]
	if m == nil || m.name != l.name {
		wrong("is of the message %s, which is another", j.w.names[delivered])
		return
	}
	if first := m.origin(); r.MessageID != first {
		wrong("names %s as its first message, want %s", r.MessageID, first)
	}
	if r.Group != m.group || r.Source != j.w.arn("jobs") {
		wrong("has group %q and source %q, want %q and %q", r.Group, r.Source, m.group, j.w.arn("jobs"))
	}
	if r.Cut || r.Last.Before(r.First.Time) {
		wrong("is cut: %v; it is from %v to %v", r.Cut, r.First, r.Last)
	}
	if runs := len(j.state(keyOf(l.name)).runs); r.Attempts > runs && !j.w.on[rekeyed] {
		wrong("has %d attempts, and it ran %d times", r.Attempts, runs)
	}
	switch r.Reason {
	case handler.ReasonExhausted, fault.ReasonUnclassified:
		if r.Verdict && r.History.Len() < r.Attempts {
			wrong("has %d attempts, and %d of them in its history", r.Attempts, r.History.Len())
		}
	case handler.ReasonMaxReceives:
		// The letter may be that of a verdict on another message of the job, which was not confirmed.
		most := j.w.ofRelease(r.FunctionVersion).maxReceives
		if had := j.receives(keyOf(l.name)); had < most {
			wrong("says that it died at its last receive, and it has had %d of %d", had, most)
		}
		switch last := r.History.Attempts[len(r.History.Attempts)-1].Reason; last {
		case handler.ReasonAfterCrash, handler.ReasonGroupHead, fault.ReasonStore:
			wrong("says that it died at its last receive for %s, which is no reason", last)
		}
	}
}

// receives is how often the message of a job was received that was received most often.
func (j *judge) receives(key string) int {
	most := 0
	for _, m := range j.order {
		if keyOf(m.name) == key {
			most = max(most, m.receives)
		}
	}
	return most
}

// origin is the id that the message had when it was first sent.
func (m *message) origin() string {
	if carried := m.attrs[dlq.AttributeName]; carried.StringValue != nil {
		if r, err := dlq.Decode(*carried.StringValue); err == nil {
			return r.MessageID
		}
	}
	return m.id
}

// checkLetterOrder checks that a letter does not overtake one of its group: all before it
// have an outcome. The world is locked.
func (j *judge) checkLetterOrder(l *letter) {
	m := j.messages[l.record.DeliveredID]
	if l.record.DeliveredID == "" {
		m = j.messages[l.record.MessageID]
	}
	if m == nil || m.group == "" || j.straggler {
		return
	}
	at := slices.Index(j.order, m)
	for _, before := range j.order[:at] {
		if before.group == m.group && before.gone == "" && !j.settled(before) {
			j.w.breaksLocked("order", []string{keyOf(m.name), keyOf(before.name)},
				"the letter of %s is sent before %s of its group is settled", m.name, before.name)
		}
	}
}

// checkLastReceive checks that a message at its last receive is not left to another one, of
// which there is none: SQS would move it without a record. The world is locked.
func (j *judge) checkLastReceive(p *process, m *message, fields map[string]string) {
	most := p.release.maxReceives
	received, err := strconv.Atoi(fields["receiveCount"]) // a copy of the message may have been received later
	if err != nil || most == 0 || received < most || fields["outcome"] != handler.OutcomeDeferred.String() {
		return
	}
	switch reason := fields["reason"]; reason {
	case handler.ReasonAfterCrash, handler.ReasonGroupHead, handler.ReasonCancelled:
	case handler.ReasonNoTime:
		// When user code is left behind, it is too late for a verdict.
		in, _ := j.term(p, m.id, j.w.now())
		late := in.end - (j.w.timeout()-j.w.jobTime())*3/4
		if j.w.timeout() > 0 && j.w.now() < late-time.Millisecond && !j.w.on[hangs] {
			j.w.breaksLocked("record", []string{keyOf(m.name)}, "%s is at its last receive, and left to another one: %s",
				m.name, reason)
		}
	default:
		j.w.breaksLocked("record", []string{keyOf(m.name)}, "%s is at its last receive, and left to another one: %s",
			m.name, reason)
	}
}
