package dlq

import (
	"encoding/json"
	"time"
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a point in time that JSON shows in UTC, as RFC 3339 with
// milliseconds. The zero value stands for an unknown time.
type Time struct{ time.Time }

// NewTime gives t in UTC, cut to milliseconds; the zero Time for a year that
// RFC 3339 cannot write.
func NewTime(t time.Time) Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return Time{}
	}
	return Time{t}
}

// MarshalJSON gives the time as a JSON string; null for the zero value.
func (t Time) MarshalJSON() ([]byte, error) {
	if t = NewTime(t.Time); t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.Format(timeLayout))
}

// UnmarshalJSON takes any RFC 3339 time. What is none becomes the zero value,
// so that a time nobody can read does not make the record unreadable.
func (t *Time) UnmarshalJSON(data []byte) error {
	*t = Time{}
	var s string
	_ = json.Unmarshal(data, &s) // leaves s empty, which is no time
	parsed, _ := time.Parse(time.RFC3339Nano, s)
	*t = NewTime(parsed)
	return nil
}
