package protocol

import (
	"encoding/json"
	"math"
	"time"
)

// Timestamp is a time as the AWS protocols write it: in seconds since 1970,
// with milliseconds behind the point.
type Timestamp struct{ time.Time }

// Seconds is the time as it is written.
func (t Timestamp) Seconds() float64 { return float64(t.UnixMilli()) / 1000 }

// MarshalJSON writes the seconds.
func (t Timestamp) MarshalJSON() ([]byte, error) { return json.Marshal(t.Seconds()) }

// UnmarshalJSON reads the seconds.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return err
	}
	t.Time = time.UnixMilli(int64(math.Round(seconds * 1000)))
	return nil
}

// Double is a number that may be none, or infinite.
type Double float64

// UnmarshalJSON reads a number, or the names that JSON has none for.
func (d *Double) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*d = Double(math.NaN())
	case `"Infinity"`:
		*d = Double(math.Inf(1))
	case `"-Infinity"`:
		*d = Double(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(d))
	}
	return nil
}
