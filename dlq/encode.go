package dlq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/handler"
)

// ErrTooLarge says that a record does not fit even when cut.
var ErrTooLarge = errors.New("dlq: the failure record does not fit")

// ErrNoRecord says that there is no failure record.
var ErrNoRecord = errors.New("dlq: no failure record")

// Encode gives the record in JSON of at most limit bytes and of characters that
// SQS takes. What the error said is cleaned: U+FFFD stands for other
// characters. The record is cut where it has to be, in this order: stack,
// history from its middle, message, error types. The error is [ErrTooLarge], or
// that of a number which JSON does not know.
func (r Record) Encode(limit int) (string, error) {
	if r.Version == 0 {
		r.Version = Version
	}
	r = r.cleaned()
	s, err := r.marshal()
	if err != nil || len(s) <= limit {
		return s, err
	}
	return r.cutTo(limit)
}

func (r Record) marshal() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.document()); err != nil {
		return "", fmt.Errorf("dlq: encode the failure record: %w", err)
	}
	s := strings.TrimSuffix(b.String(), "\n")
	// The characters that SQS refuses and JSON leaves as they are.
	s = strings.ReplaceAll(s, "\uFFFE", `\ufffe`)
	return strings.ReplaceAll(s, "\uFFFF", `\uffff`), nil
}

// cleaned leaves alone what has to come back exactly: the key, which JSON
// escapes where needed, and what SQS has let pass before.
func (r Record) cleaned() Record {
	r.Class, r.Reason, r.Rule = clean(r.Class), clean(r.Reason), clean(r.Rule)
	r.Message, r.Stack, r.Types = clean(r.Message), clean(r.Stack), cleanAll(r.Types)
	history := make([]handler.Attempt, len(r.History.Attempts))
	for i, a := range r.History.Attempts {
		a.Class, a.Reason, a.Rule = clean(a.Class), clean(a.Reason), clean(a.Rule)
		a.Message = clean(a.Message)
		history[i] = a
	}
	r.History.Attempts = history
	return r
}

const (
	// maxCount is beyond what any number in a record of ours can be. A larger epoch
	// would make all later replays of the job copies of it.
	maxCount = 1_000_000
	// maxMessageID is how long an id of SQS can be, in characters (SQS developer
	// guide, "message identifiers").
	maxMessageID = 100
)

// Decode reads the value of the attribute. Records of later versions are read as
// far as they resemble this one, and must do so in what names the job. The error is
// [ErrNoRecord] for JSON that is no record, or has numbers or names that none can
// have, or that of the JSON.
func Decode(s string) (Record, error) {
	var name struct {
		Version   int    `json:"version"`
		Key       string `json:"key"`
		Epoch     int    `json:"epoch"`
		Verdict   bool   `json:"verdict"`
		MessageID string `json:"messageId"`
	}
	if err := json.Unmarshal([]byte(s), &name); err != nil {
		return Record{}, fmt.Errorf("dlq: decode the attribute %s: %w", AttributeName, err)
	}
	var d document
	if err := json.Unmarshal([]byte(s), &d); err != nil && name.Version <= Version {
		return Record{}, fmt.Errorf("dlq: decode the attribute %s: %w", AttributeName, err)
	}
	r := d.record()
	if !r.plausible() {
		return Record{}, ErrNoRecord
	}
	return r, nil
}

// plausible tells whether a record of ours can be like that. Whoever can send to
// the queue can write the attribute too.
func (r *Record) plausible() bool {
	counts := []int{r.Epoch, r.Attempts, r.History.Dropped}
	for _, a := range r.History.Attempts {
		if a.DelaySeconds < 0 || a.DelaySeconds > maxCount {
			return false
		}
		counts = append(counts, a.Number)
	}
	for _, n := range counts {
		if n < 0 || n > maxCount {
			return false
		}
	}
	named := r.MessageID != "" && utf8.RuneCountInString(r.MessageID) <= maxMessageID
	return r.Version >= 1 && named && len(r.Key) <= maxRecord
}
