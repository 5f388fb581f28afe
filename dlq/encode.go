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

// ErrTooLarge says that a record does not fit even when truncated.
var ErrTooLarge = errors.New("dlq: the failure record does not fit")

// ErrNoRecord says that there is no failure record.
var ErrNoRecord = errors.New("dlq: no failure record")

// Encode returns the record as JSON of at most limit bytes, with characters that SQS
// accepts. In the texts of errors U+FFFD replaces other characters. If necessary the
// record is truncated, in this order: stack, history from its middle, message, error
// types. The error is [ErrTooLarge], or that of a number which JSON cannot represent.
func (r Record) Encode(limit int) (string, error) {
	if r.Version == 0 {
		r.Version = Version
	}
	r = r.cleaned()
	s, err := r.marshal()
	if err != nil || len(s) <= limit {
		return s, err
	}
	return r.truncateTo(limit)
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

// cleaned replaces characters that SQS does not accept. It does not change what must be
// exact when read: the key, which JSON escapes, and texts that SQS has accepted before.
func (r Record) cleaned() Record {
	r.Class, r.Reason, r.Rule = clean(r.Class), clean(r.Reason), clean(r.Rule)
	r.Message, r.Stack, r.Types = clean(r.Message), clean(r.Stack), cleanAll(r.Types)
	r.Codes.SQLState, r.Codes.SQL = clean(r.Codes.SQLState), clean(r.Codes.SQL)
	r.Codes.AWS, r.Codes.RequestID = clean(r.Codes.AWS), clean(r.Codes.RequestID)
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
	// maxCount is greater than any number in a valid record. A larger epoch would make
	// all later replays of the job copies of it.
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

// plausible reports whether the numbers and names are possible in a record of this
// package. Anyone who can send to the queue can write the attribute too.
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
