package ledger

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
)

// Entry is the item of a job. Its JSON is for programs: names are stable, and
// what the item does not have is left out.
type Entry struct {
	ID string `json:"id"`
	// Status is the item's status: INPROGRESS, COMPLETED or DEAD.
	Status string `json:"status"`
	// Expires is when the table may delete the item; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Lease is when the claim expires, or the earliest time of the next claim.
	Lease time.Time `json:"lease,omitzero"`
	// Owner is the fence of the last claim, MessageID the message that made it.
	Owner     string `json:"owner,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	// Validation is the payload's hash, after the name of its scheme.
	Validation string `json:"validation,omitempty"`
	// Epoch counts how often the job was started again after its death.
	Epoch int `json:"epoch"`
	// Claims counts the claims of the epoch. Settled counts those whose run
	// ended with a recorded result.
	Claims  int `json:"claims"`
	Settled int `json:"settled"`
	// Crashes counts the consecutive runs that ended with their process.
	Crashes    int    `json:"crashes"`
	CrashStack string `json:"crashStack,omitempty"`
	// Attempts is the budget that the epoch has used: it counts the failures that
	// use some. Unclassified counts those of them whose error no rule matched.
	// Runs is another number.
	Attempts     int `json:"attempts"`
	Unclassified int `json:"unclassified"`
	// DeadAt is when the verdict was written, Verdict why, and DeadLetterID the
	// message id that the dead-letter queue confirmed.
	DeadAt       time.Time        `json:"deadAt,omitzero"`
	Verdict      *handler.Failure `json:"verdict,omitempty"`
	DeadLetterID string           `json:"deadLetterId,omitempty"`
	// History has the failed runs of all epochs.
	History handler.History `json:"history,omitzero"`
	// Steps are the steps of the job that are done, with their results as JSON.
	Steps map[string]string `json:"steps,omitempty"`
	// Other has the attributes that are not in the fields above, such as
	// Powertools' data, and those with an unexpected type.
	Other map[string]any `json:"other,omitempty"`

	seen item
}

// Slim returns the entry without what takes much memory: the item itself, stacks, steps,
// attributes of other writers, and the single runs of the history. It cannot be forgotten or
// cancelled any more.
func (e *Entry) Slim() *Entry {
	s := *e
	s.seen, s.Steps, s.Other, s.CrashStack = nil, nil, nil, ""
	s.History = slimHistory(&e.History)
	if v := e.Verdict; v != nil {
		slim := *v
		slim.Stack, slim.History = "", slimHistory(&v.History)
		s.Verdict = &slim
	}
	return &s
}

func slimHistory(h *handler.History) handler.History { return handler.History{Dropped: h.Len()} }

// Runs counts the runs that failed in all epochs. A permanent failure is a run and
// costs no budget.
func (e *Entry) Runs() int { return e.History.Len() }

type item = map[string]types.AttributeValue

// The attributes of an item, as idem/dynamo and Powertools name them.
const (
	status       = "status"
	expiration   = "expiration"
	lease        = "in_progress_expiration"
	validation   = "validation"
	owner        = "owner"
	messageID    = "message_id"
	epoch        = "epoch"
	claims       = "claims"
	settled      = "settled"
	crashes      = "crashes"
	crashStack   = "crash_stack"
	attempts     = "attempts"
	unclassified = "unclassified"
	history      = "history"
	deadAt       = "dead_at"
	verdict      = "verdict"
	deadLetterID = "dlq_message_id"
	steps        = "steps"
)

// Decode decodes an item whose partition key has the name key.
func Decode(key string, from item) Entry {
	r := reader{from: from, known: map[string]bool{}}
	e := Entry{
		ID:           r.text(key),
		Status:       r.text(status),
		Expires:      r.time(expiration, time.Second),
		Lease:        r.time(lease, time.Millisecond),
		Owner:        r.text(owner),
		MessageID:    r.text(messageID),
		Validation:   r.text(validation),
		Epoch:        r.count(epoch),
		Claims:       r.count(claims),
		Settled:      r.count(settled),
		Crashes:      r.count(crashes),
		CrashStack:   r.text(crashStack),
		Attempts:     r.count(attempts),
		Unclassified: r.count(unclassified),
		DeadAt:       r.time(deadAt, time.Millisecond),
		DeadLetterID: r.text(deadLetterID),
		Steps:        r.texts(steps),
		seen:         from,
	}
	e.History = document[handler.History](&r, history)
	e.Verdict = document[*handler.Failure](&r, verdict)
	e.Other = r.rest()
	return e
}

// reader reads attributes and records which of them it could read.
type reader struct {
	from  item
	known map[string]bool
}

func (r *reader) text(name string) string {
	s, ok := r.from[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	r.known[name] = true
	return s.Value
}

// texts reads a map of strings.
func (r *reader) texts(name string) map[string]string {
	m, ok := r.from[name].(*types.AttributeValueMemberM)
	if !ok {
		return nil
	}
	members := reader{from: m.Value, known: map[string]bool{}}
	read := map[string]string{}
	for member := range m.Value {
		read[member] = members.text(member)
	}
	if len(members.known) < len(m.Value) {
		return nil
	}
	r.known[name] = true
	return read
}

func (r *reader) number(name string) (int64, bool) {
	s, ok := r.from[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s.Value, 10, 64)
	r.known[name] = err == nil
	return n, err == nil
}

func (r *reader) count(name string) int {
	n, _ := r.number(name)
	return int(n)
}

// lastSecond is the end of the year 9999, the last that RFC 3339, and therefore
// JSON, can express.
const lastSecond = 253402300799

func (r *reader) time(name string, unit time.Duration) time.Time {
	n, ok := r.number(name)
	perSecond := int64(time.Second / unit)
	if !ok || n < 0 || n/perSecond > lastSecond {
		r.known[name] = false
		return time.Time{}
	}
	return time.UnixMilli(n * (1000 / perSecond)).UTC()
}

// document decodes an attribute that contains JSON.
func document[T any](r *reader, name string) (value T) {
	written := r.text(name)
	if written == "" {
		return value
	}
	if json.Unmarshal([]byte(written), &value) != nil {
		r.known[name] = false
		return *new(T)
	}
	return value
}

// rest returns the attributes that are in no field; nil if there are none.
func (r *reader) rest() map[string]any {
	var rest map[string]any
	for name, value := range r.from {
		if r.known[name] {
			continue
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[name] = plain(value)
	}
	return rest
}

// plain converts a value for JSON: numbers stay exact, bytes become base64.
func plain(value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberB:
		return v.Value
	case *types.AttributeValueMemberSS:
		return v.Value
	case *types.AttributeValueMemberNS:
		return v.Value
	case *types.AttributeValueMemberBS:
		return v.Value
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, element := range v.Value {
			list[i] = plain(element)
		}
		return list
	case *types.AttributeValueMemberM:
		members := map[string]any{}
		for name, member := range v.Value {
			members[name] = plain(member)
		}
		return members
	default: // NULL
		return nil
	}
}
