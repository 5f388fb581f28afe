package protocol_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// A request is decoded or refused with an error of the service.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"Name":"a","At":1.5,"Value":"NaN","Parts":[{"Name":"b"}],"ByName":{"x":{"Name":"c"}}}`,
		`{"name":"a"}`, `{"Parts":[{"Nam":1}]}`, `{"ByName":{"x":{"other":null}}}`, ``, `null`, `[]`, "\xff", `{"At":1e400}`,
		`{"At":1e300}`, `{"At":-9e15,"Value":"-Infinity"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		type part struct{ Name string }
		var in struct {
			Name   string
			At     protocol.Timestamp
			Value  protocol.Double
			Parts  []part
			ByName map[string]*part
		}
		err := (&protocol.Request{Operation: "Op", Body: body}).Decode(&in)
		if _, isRefusal := errors.AsType[*protocol.Error](err); err != nil && !isRefusal {
			t.Fatalf("%q: %v is no error of the service", body, err)
		}
		if err != nil {
			return
		}
		written, err := json.Marshal(in.At)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var again protocol.Timestamp
		if err := json.Unmarshal(written, &again); err != nil || math.Abs(again.Seconds()-in.At.Seconds()) > 0.001 {
			t.Errorf("%q: the time is %v, and %v when it is written and read again: %v",
				body, in.At.Seconds(), again.Seconds(), err)
		}
	})
}
