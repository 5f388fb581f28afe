package protocol

import (
	"encoding/json"
	"math"
	"time"
)

// Timestamp is a time that is encoded as in the AWS protocols: in seconds since
// 1970, with milliseconds after the decimal point.
type Timestamp struct{ time.Time }

// Seconds returns the seconds since 1970.
func (t Timestamp) Seconds() float64 { return float64(t.UnixMilli()) / 1000 }

// MarshalJSON encodes the seconds.
func (t Timestamp) MarshalJSON() ([]byte, error) { return json.Marshal(t.Seconds()) }

// UnmarshalJSON decodes the seconds.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return err
	}
	t.Time = time.UnixMilli(int64(math.Round(seconds * 1000)))
	return nil
}

// Double is a number that can also be NaN or infinite.
type Double float64

// UnmarshalJSON decodes a number, or one of the strings for values that JSON
// numbers lack.
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
