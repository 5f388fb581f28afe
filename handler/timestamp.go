package handler

import (
	"encoding/json"
	"time"
)

// timestampLayout is RFC 3339 in UTC with milliseconds.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a point in time as the ledger and dead letters store it: in UTC, in whole
// milliseconds. Writing and reading do not change it. The zero value means an unknown
// time.
type Timestamp struct{ time.Time }

// NewTimestamp returns t in UTC, cut to milliseconds; the zero Timestamp for a
// year that RFC 3339 cannot write.
func NewTimestamp(t time.Time) Timestamp {
	t = t.UTC().Truncate(time.Millisecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return Timestamp{}
	}
	return Timestamp{t}
}

// MarshalJSON returns the time as a JSON string in RFC 3339 with three decimals;
// null for the zero value.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if t = NewTimestamp(t.Time); t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.Format(timestampLayout))
}

// UnmarshalJSON accepts any RFC 3339 time. Anything else becomes the zero value, so that
// one bad time does not make the whole document unreadable.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	var s string
	_ = json.Unmarshal(data, &s) // leaves s empty, which is no time
	parsed, _ := time.Parse(time.RFC3339Nano, s)
	*t = NewTimestamp(parsed)
	return nil
}
