package deadletters

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Kind says who put a letter into the queue.
type Kind string

const (
	// KindRecorded is a letter that sqsafe sent, with a failure record.
	KindRecorded Kind = "recorded"
	// KindMoved is a message that SQS moved, after maxReceiveCount receives.
	KindMoved Kind = "moved"
	// KindLambda is an event of an asynchronous invocation that Lambda gave up.
	KindLambda Kind = "lambda"
	// KindEventBridge is an event that EventBridge could not deliver to a target.
	KindEventBridge Kind = "eventbridge"
	// KindSNS is a notification that SNS could not deliver to a subscriber.
	KindSNS Kind = "sns"
	// KindUnknown is a message without a sign of why it is there.
	KindUnknown Kind = "unknown"
)

// Letter is a dead letter.
type Letter struct {
	// ID is the id of the message in the dead-letter queue.
	ID   string
	Kind Kind
	// Record is the failure record of a recorded letter. For others it holds what is
	// known.
	Record dlq.Record
	// Events is the number of events that a foreign record stands for; 1 in all others.
	Events int
	// Report says that the message is a report about events and not the job itself, so
	// that it makes no sense to send it back.
	Report bool
	// Source is the ARN of the queue from which the job came; empty if it is not known.
	Source string
	// Group and Sequence are those of the message in the dead-letter queue.
	Group, Sequence string
	// Sent is when the message entered its source queue, as far as that is known, and
	// Arrived when it entered this one. SQS does not say when it moved a message of a
	// standard queue: then both are equal.
	Sent, Arrived time.Time
	// Expires is when SQS deletes the letter.
	Expires time.Time
	// Receives is how often the letter was received from this queue.
	Receives int
	// Size is what the letter counts towards the limits of SQS, in bytes.
	Size int
	// Message is the message itself; nil in a letter that is [Letter.Slim].
	Message *Message
	// Entry is the job in the ledger, and Ledger what is known of it. [Join] sets them.
	Entry  *ledger.Entry
	Ledger LedgerState
}

// Decode says what the message is. It never fails: what cannot be read is of
// [KindUnknown].
func Decode(q *Queue, m *Message) *Letter {
	l := &Letter{
		ID: m.ID, Kind: KindUnknown, Events: 1, Source: m.Source(), Group: m.Group(), Sequence: m.Sequence(),
		Sent: m.Sent(), Arrived: m.Sent(), Receives: m.Receives(), Size: m.Size(), Message: m,
	}
	if !l.Arrived.IsZero() && q.Retention > 0 {
		l.Expires = l.Arrived.Add(q.Retention)
	}
	record, ok := openRecord(m)
	switch {
	case ok:
		l.recorded(record)
	case l.Source != "":
		l.Kind, l.Record.Reason, l.Record.MessageID = KindMoved, "moved", m.ID
	default:
		l.foreign(m)
	}
	if l.Record.Fingerprint == "" {
		l.Record.Fingerprint = l.fingerprint()
	}
	return l
}

// openRecord decodes the record of a message.
func openRecord(m *Message) (dlq.Record, bool) {
	a, ok := m.Attributes[dlq.AttributeName]
	if !ok || a.StringValue == nil {
		return dlq.Record{}, false
	}
	r, err := dlq.Decode(*a.StringValue)
	return r, err == nil
}

func (l *Letter) recorded(r dlq.Record) {
	l.Kind, l.Record = KindRecorded, r
	if r.Reason == "" { // a link to the original that a restore or a replay has added
		l.Kind, l.Record.Reason = KindMoved, "moved"
	}
	if r.Source != "" {
		l.Source = r.Source
	}
	if !r.Sent.IsZero() {
		l.Sent = r.Sent.Time
	}
}

// OriginalID returns the id that the message had when it was first sent, as far as that is
// known.
func (l *Letter) OriginalID() string {
	if l.Record.MessageID != "" {
		return l.Record.MessageID
	}
	return l.ID
}

// SourceName returns the name of the source queue; empty if it is not known.
func (l *Letter) SourceName() string { return l.Source[strings.LastIndexByte(l.Source, ':')+1:] }

// Died returns when the job died, or when the letter arrived if that is not known.
func (l *Letter) Died() time.Time {
	if !l.Record.Last.IsZero() {
		return l.Record.Last.Time
	}
	return l.Arrived
}

// Reason returns the class and the reason of the death in one text.
func (l *Letter) Reason() string {
	if l.Record.Class == l.Record.Reason {
		return l.Record.Class
	}
	return strings.TrimSpace(l.Record.Class + " " + l.Record.Reason)
}

// Replayed returns how often the job was started again after a death before this one.
func (l *Letter) Replayed() int { return l.Record.Epoch }

// JobID returns the id of the job in the ledger; empty if the letter does not name it.
func (l *Letter) JobID() string {
	if l.Record.Key == "" || l.Source == "" {
		return ""
	}
	return ledger.ID(l.SourceName(), l.Record.Key)
}

// LogTerms returns what stands in the log lines of the letter's job: the ids of its messages
// and of the requests in which it ran, each once.
func (l *Letter) LogTerms() []string {
	terms := []string{l.OriginalID(), l.Record.DeliveredID, l.ID, l.Record.RequestID}
	for _, a := range l.Record.History.Attempts {
		terms = append(terms, a.RequestID)
	}
	var kept []string
	for _, term := range terms {
		if term != "" && !slices.Contains(kept, term) {
			kept = append(kept, term)
		}
	}
	return kept
}

// Enveloped reports whether the body may be an envelope around the payload: of SNS,
// EventBridge, S3 or another service, or compressed.
func (l *Letter) Enveloped() bool {
	body := l.Message.Body
	if !strings.HasPrefix(strings.TrimSpace(body), "{") {
		return true
	}
	for _, member := range []string{`"TopicArn"`, `"detail-type"`, `"Records"`, `"s3BucketName"`} {
		if strings.Contains(body, member) {
			return true
		}
	}
	return false
}

// Slim returns the letter without what takes much memory: the message, the stack, the
// attempts, displaced attributes, and a long text of the error.
func (l *Letter) Slim() *Letter {
	const longest = 256
	s := *l
	s.Message = nil
	s.Record.Stack, s.Record.Displaced = "", nil
	s.Record.History.Dropped, s.Record.History.Attempts = s.Record.Runs(), nil
	if len(s.Record.Message) > longest {
		s.Record.Message = strings.Clone(strings.ToValidUTF8(s.Record.Message[:longest], ""))
	}
	return &s
}

// changing matches what differs between two errors of one kind: numbers, ids, and what
// stands in quotes.
var changing = regexp.MustCompile(`"[^"]*"|'[^']*'|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|0x[0-9A-Fa-f]+|[0-9]+`)

// fingerprint groups letters whose record has none.
func (l *Letter) fingerprint() string {
	r := &l.Record
	parts := []string{string(l.Kind), l.Source, r.Class, r.Reason, r.Rule, changing.ReplaceAllString(r.Message, "#")}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}
