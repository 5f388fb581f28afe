package cbor_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/cbor"
)

// Decoded data is valid JSON, and stays the same when it is encoded and decoded
// again.
func FuzzToJSON(f *testing.F) {
	for _, seed := range []string{
		"\x00", "\xa1\x61a\x01", "\x9f\x01\xff", "\xbf\x61a\xf9\x3c\x00\xff", "\x7f\x61a\xff", "\xc1\x1a\x51\x4b\x67\xb0",
		"\x5f\x42\x01\x02\xff", "\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := cbor.ToJSON(data)
		if err != nil {
			return
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%x: %s is no JSON: %v", data, text, err)
		}
		written, err := cbor.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := cbor.ToJSON(written)
		var w any
		if err != nil || json.Unmarshal(again, &w) != nil || !reflect.DeepEqual(v, w) {
			t.Errorf("%s came back as %s (%v)", text, again, err)
		}
	})
}
