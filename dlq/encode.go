package dlq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// Decode reads the value of the attribute. Records of later versions are read
// as far as they resemble this one. The error is [ErrNoRecord] for JSON that is
// no record, or that of the JSON.
func Decode(s string) (Record, error) {
	var d document
	err := json.Unmarshal([]byte(s), &d)
	r := d.record()
	var syntax *json.SyntaxError
	if err != nil && (errors.As(err, &syntax) || r.Version <= Version) {
		return Record{}, fmt.Errorf("dlq: decode the attribute %s: %w", AttributeName, err)
	}
	if r.Version < 1 || r.MessageID == "" || r.Epoch < 0 {
		return Record{}, ErrNoRecord
	}
	return r, nil
}
