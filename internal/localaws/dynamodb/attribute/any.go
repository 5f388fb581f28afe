package attribute

import "encoding/json"

// Any is a value of any type that decodes itself.
type Any struct{ Value Value }

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Any) UnmarshalJSON(data []byte) (err error) {
	a.Value, err = decodeValue(data, 0)
	return err
}

// MarshalJSON implements [json.Marshaler].
func (a Any) MarshalJSON() ([]byte, error) { return json.Marshal(a.Value) }
