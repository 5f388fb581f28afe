package attribute

import "encoding/json"

// Any is a value of any type that decodes itself. A bad value is no error until
// it is used.
type Any struct {
	value   Value
	problem error
}

// Value returns the value, or the error of its JSON form.
func (a Any) Value() (Value, error) { return a.value, a.problem }

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Any) UnmarshalJSON(data []byte) error {
	a.value, a.problem = decodeValue(data, 0)
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (a Any) MarshalJSON() ([]byte, error) { return json.Marshal(a.value) }
