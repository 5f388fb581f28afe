package cbor_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	smithycbor "github.com/aws/smithy-go/encoding/cbor"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws/cbor"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The encodings are the examples of RFC 8949, appendix A.
func TestToJSON(t *testing.T) {
	t.Parallel()
	for encoded, want := range map[string]string{
		"00": "0", "17": "23", "1818": "24", "1903e8": "1000", "1a000f4240": "1000000",
		"1b000000e8d4a51000": "1000000000000", "1bffffffffffffffff": "18446744073709551615",
		"20": "-1", "3863": "-100", "3903e7": "-1000",
		"f90000": "0", "f93c00": "1", "f93e00": "1.5", "f97bff": "65504", "f9c400": "-4", "f90001": "5.960464477539063e-8",
		"fa47c35000": "100000", "fb3ff199999999999a": "1.1", "fbc010666666666666": "-4.1",
		"f97c00": `"Infinity"`, "f97e00": `"NaN"`, "f9fc00": `"-Infinity"`, "fb7ff8000000000000": `"NaN"`,
		"fa7f800000": `"Infinity"`,
		"f4":         "false", "f5": "true", "f6": "null", "f7": "null",
		"60": `""`, "6449455446": `"IETF"`, "62c3bc": `"ü"`, "7f657374726561646d696e67ff": `"streaming"`, "7fff": `""`,
		"4401020304": `"AQIDBA=="`, "5f42010243030405ff": `"AQIDBAU="`,
		"80": "[]", "83010203": "[1,2,3]", "8301820203820405": "[1,[2,3],[4,5]]",
		"9f018202039f0405ffff": "[1,[2,3],[4,5]]", "9fff": "[]",
		"a0": "{}", "a26161016162820203": `{"a":1,"b":[2,3]}`, "bf61610161629f0203ffff": `{"a":1,"b":[2,3]}`,
		"c11a514b67b0": "1363896240", "c1fb41d452d9ec200000": "1363896240.5",
	} {
		got, err := cbor.ToJSON(unhex(t, encoded))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s (%v), want %s", encoded, got, err, want)
		}
	}
}

func TestMalformedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ encoded, want string }{
		"nothing":                               {"", "ends within"},
		"cut number":                            {"19 03", "ends within"},
		"cut text":                              {"64 4945", "ends within"},
		"cut array":                             {"82 01", "ends within"},
		"cut map":                               {"a1 6161", "ends within"},
		"array without a break":                 {"9f 01", "ends within"},
		"text without a break":                  {"7f 61 61", "ends within"},
		"array that is too long":                {"9b ffffffffffffffff", "ends within"},
		"text that is too long":                 {"7b ffffffffffffffff 61", "ends within"},
		"data after the item":                   {"01 02", "1 bytes behind"},
		"reserved first byte":                   {"1c", "means nothing"},
		"break alone":                           {"ff", "0xff"},
		"unknown tag":                           {"c0 6161", "0xc0"},
		"unknown simple value":                  {"e0", "0xe0"},
		"number of invalid length":              {"1f", "0x1f"},
		"negative beyond 64 bits":               {"3b ffffffffffffffff", "0x3b"},
		"key that is not text":                  {"a1 01 02", "no text"},
		"text that is not UTF-8":                {"61 ff", "UTF-8"},
		"bytes in a text":                       {"7f 41 61 ff", "0x41"},
		"indefinite text in an indefinite text": {"7f 7f ff ff", "0x7f"},
		"nested without end":                    {strings.Repeat("81", 100) + "00", "deep"},
		"tags nested without an end":            {strings.Repeat("c1", 100) + "00", "deep"},
	} {
		if got, err := cbor.ToJSON(unhex(t, tt.encoded)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %s (%v), want an error with %q", name, got, err, tt.want)
		}
	}
}

type inner struct {
	Name  string
	Count *int64 `json:",omitempty"`
}

type outer struct {
	inner
	Renamed  string `json:"name,omitempty"`
	Kept     string
	At       protocol.Timestamp
	Values   []float64 `json:",omitempty"`
	Inners   []inner
	Labels   map[string]string
	Any      any
	Flag     *bool
	Negative int
	hidden   string
}

// The SDK's decoder reads the encoding as the same value as the JSON.
func TestMarshal(t *testing.T) {
	t.Parallel()
	count, flag := int64(70_000), true
	got, err := cbor.Marshal(outer{
		inner: inner{Name: "n", Count: &count}, Kept: "", At: protocol.Timestamp{Time: time.UnixMilli(1500)},
		Values: []float64{1.5}, Inners: []inner{{Name: "ü"}}, Labels: map[string]string{"b": "2", "a": "1"},
		Flag: &flag, Negative: -500, hidden: "h",
	})
	if err != nil {
		t.Fatal(err)
	}
	value, err := smithycbor.Decode(got)
	if err != nil {
		t.Fatal(err)
	}
	want := smithycbor.Map{
		"Name": smithycbor.String("n"), "Count": smithycbor.Uint(70_000), "Kept": smithycbor.String(""),
		"At":     &smithycbor.Tag{ID: 1, Value: smithycbor.Float64(1.5)},
		"Values": smithycbor.List{smithycbor.Float64(1.5)},
		"Inners": smithycbor.List{smithycbor.Map{"Name": smithycbor.String("ü")}},
		"Labels": smithycbor.Map{"a": smithycbor.String("1"), "b": smithycbor.String("2")},
		"Any":    &smithycbor.Nil{}, "Flag": smithycbor.Bool(true), "Negative": smithycbor.NegInt(500),
	}
	if diff := cmp.Diff(want, value); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMarshalRefusesUnsupportedValues(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"channel":           make(chan int),
		"map by numbers":    map[int]string{1: "a"},
		"function in list":  []any{func() {}},
		"channel in map":    map[string]any{"a": make(chan int)},
		"channel in struct": struct{ C chan int }{},
	} {
		if got, err := cbor.Marshal(v); err == nil {
			t.Errorf("%s: written as %x", name, got)
		}
	}
}

// Round trip for numbers of every argument size.
func TestNumbersOfEveryArgumentSizeRoundTrip(t *testing.T) {
	t.Parallel()
	for shift := range 63 {
		for _, n := range []int64{1<<shift - 1, 1 << shift, -1 << shift} {
			b, err := cbor.Marshal(n)
			if err != nil {
				t.Fatal(err)
			}
			text, err := cbor.ToJSON(b)
			var got int64
			if err != nil || json.Unmarshal(text, &got) != nil || got != n {
				t.Errorf("%d: got %s (%v)", n, text, err)
			}
		}
	}
	if b, _ := cbor.Marshal(math.MaxUint8 + 1); len(b) != 3 {
		t.Errorf("256 takes %d bytes, want 3", len(b))
	}
}
