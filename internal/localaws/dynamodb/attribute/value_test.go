package attribute_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func item(t testing.TB, body string) attribute.Item {
	t.Helper()
	var i attribute.Item
	if err := json.Unmarshal([]byte(body), &i); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return i
}

// value parses a value from its JSON form.
func value(t testing.TB, body string) attribute.Value {
	t.Helper()
	return item(t, `{"v":`+body+`}`)["v"]
}

func TestValuesRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"S":"text"}`:           `{"S":"text"}`,
		`{"S":""}`:               `{"S":""}`,
		`{"S":"é\u0000\"<&>"}`:   `{"S":"é\u0000\"\u003c\u0026\u003e"}`,
		`{"N":"1.50"}`:           `{"N":"1.5"}`,
		`{"B":"AQI="}`:           `{"B":"AQI="}`,
		`{"B":""}`:               `{"B":""}`,
		`{"BOOL":false}`:         `{"BOOL":false}`,
		`{"NULL":true}`:          `{"NULL":true}`,
		`{"SS":["b","a"]}`:       `{"SS":["b","a"]}`,
		`{"NS":["2","1.0"]}`:     `{"NS":["2","1"]}`,
		`{"BS":["AQ==","Ag=="]}`: `{"BS":["AQ==","Ag=="]}`,
		`{"L":[]}`:               `{"L":[]}`,
		`{"L":[{"S":"a"},{"L":[{"NULL":true}]}]}`: `{"L":[{"S":"a"},{"L":[{"NULL":true}]}]}`,
		`{"M":{}}`: `{"M":{}}`,
		`{"M":{"a":{"N":"1"},"b":{"M":{"c":{"BOOL":true}}}}}`: `{"M":{"a":{"N":"1"},"b":{"M":{"c":{"BOOL":true}}}}}`,
	} {
		got, err := json.Marshal(value(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestInvalidValuesAreRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"L":[`, 33) + `{"NULL":true}` + strings.Repeat(`]}`, 33)
	for in, message := range map[string]string{
		`{}`:                        "must contain exactly one of the supported datatypes",
		`{"X":"a"}`:                 "must contain exactly one of the supported datatypes",
		`{"S":"a","N":"1"}`:         "more than one datatypes set",
		`{"N":"one"}`:               "cannot be converted to a numeric value: one",
		`{"NULL":false}`:            "Null attribute value types must have the value of true",
		`{"SS":[]}`:                 "An string set  may not be empty",
		`{"NS":[]}`:                 "An number set  may not be empty",
		`{"BS":[]}`:                 "Binary sets should not be empty",
		`{"SS":["a","a"]}`:          "Input collection [a, a] contains duplicates",
		`{"NS":["1","1.0"]}`:        "Input collection contains duplicates",
		`{"BS":["AQ==","AQ=="]}`:    "contains duplicates",
		`{"L":[{"N":"x"}]}`:         "cannot be converted to a numeric value",
		`{"M":{"a":{"SS":[]}}}`:     "may not be empty",
		`{"L":[{"S":"a","N":"1"}]}`: "more than one datatypes set",
		deep:                        "Nesting Levels have exceeded supported limits",
	} {
		var i attribute.Item
		wantInvalid(t, json.Unmarshal([]byte(`{"v":`+in+`}`), &i), message)
	}
}

func TestOtherJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`"a"`, `5`, `[]`, `{"S":5}`, `{"N":5}`, `{"B":"?"}`, `{"B":5}`, `{"BOOL":{}}`, `{"NULL":1}`,
		`{"SS":"a"}`, `{"SS":[1]}`, `{"L":{}}`, `{"M":[]}`,
	} {
		var i attribute.Item
		err := json.Unmarshal([]byte(`{"v":`+in+`}`), &i)
		var refusal *protocol.Error
		if !errors.As(err, &refusal) || refusal.Code != "SerializationException" {
			t.Errorf("%s: got %v, want a SerializationException", in, err)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"S":"a"}`, `{"S":"a"}`, true},
		{`{"S":"a"}`, `{"S":"b"}`, false},
		{`{"S":"1"}`, `{"N":"1"}`, false},
		{`{"N":"1"}`, `{"N":"1.0"}`, true},
		{`{"N":"1"}`, `{"N":"1.0000000000000000000000000000000001"}`, false},
		{`{"B":"AQ=="}`, `{"B":"AQ=="}`, true},
		{`{"S":"AQ=="}`, `{"B":"AQ=="}`, false},
		{`{"BOOL":true}`, `{"BOOL":false}`, false},
		{`{"NULL":true}`, `{"NULL":true}`, true},
		{`{"SS":["a","b"]}`, `{"SS":["b","a"]}`, true},
		{`{"SS":["a"]}`, `{"SS":["a","b"]}`, false},
		{`{"SS":["a","c"]}`, `{"SS":["a","b"]}`, false},
		{`{"NS":["1","2"]}`, `{"NS":["2.0","1"]}`, true},
		{`{"SS":["1"]}`, `{"NS":["1"]}`, false},
		{`{"L":[{"N":"1"},{"S":"a"}]}`, `{"L":[{"N":"1"},{"S":"a"}]}`, true},
		{`{"L":[{"N":"1"},{"S":"a"}]}`, `{"L":[{"S":"a"},{"N":"1"}]}`, false},
		{`{"M":{"a":{"N":"1"}}}`, `{"M":{"a":{"N":"1.0"}}}`, true},
		{`{"M":{"a":{"N":"1"}}}`, `{"M":{"b":{"N":"1"}}}`, false},
	} {
		if got := attribute.Equal(value(t, c.a), value(t, c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) is %v", c.a, c.b, got)
		}
	}
	if attribute.Equal(nil, nil) {
		t.Error("two attributes that are not there are equal")
	}
}

func TestCompareOrdersStringsNumbersAndBinaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{`{"S":"a"}`, `{"S":"b"}`, -1},
		{`{"S":"Z"}`, `{"S":"a"}`, -1}, // by bytes
		{`{"S":"10"}`, `{"S":"9"}`, -1},
		{`{"N":"10"}`, `{"N":"9"}`, 1},
		{`{"N":"-10"}`, `{"N":"-9"}`, -1},
		{`{"N":"9007199254740993"}`, `{"N":"9007199254740992"}`, 1},
		{`{"B":"/w=="}`, `{"B":"AQ=="}`, 1}, // bytes are unsigned
		{`{"B":"AQ=="}`, `{"B":"AQ=="}`, 0},
	} {
		if got, ok := attribute.Compare(value(t, c.a), value(t, c.b)); !ok || got != c.want {
			t.Errorf("Compare(%s, %s) is %d, %v; want %d", c.a, c.b, got, ok, c.want)
		}
	}
	for _, c := range [][2]string{
		{`{"S":"1"}`, `{"N":"1"}`}, {`{"N":"1"}`, `{"S":"1"}`}, {`{"B":"AQ=="}`, `{"S":"a"}`},
		{`{"BOOL":true}`, `{"BOOL":true}`}, {`{"SS":["a"]}`, `{"SS":["a"]}`}, {`{"L":[]}`, `{"L":[]}`},
	} {
		if _, ok := attribute.Compare(value(t, c[0]), value(t, c[1])); ok {
			t.Errorf("Compare(%s, %s) is ok", c[0], c[1])
		}
	}
}

func TestHasPrefixAndContains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v, part          string
		prefix, contains bool
	}{
		{`{"S":"hello"}`, `{"S":"he"}`, true, true},
		{`{"S":"hello"}`, `{"S":"ll"}`, false, true},
		{`{"S":"hello"}`, `{"S":"x"}`, false, false},
		{`{"S":"hello"}`, `{"B":"aGU="}`, false, false},
		{`{"B":"aGVsbG8="}`, `{"B":"aGU="}`, true, true},
		{`{"B":"aGVsbG8="}`, `{"S":"he"}`, false, false},
		{`{"N":"12"}`, `{"N":"1"}`, false, false},
		{`{"SS":["a","b"]}`, `{"S":"b"}`, false, true},
		{`{"SS":["ab"]}`, `{"S":"a"}`, false, false},
		{`{"NS":["1.0"]}`, `{"N":"1"}`, false, true},
		{`{"L":[{"M":{}},{"N":"1"}]}`, `{"M":{}}`, false, true},
		{`{"L":[{"N":"1"}]}`, `{"S":"1"}`, false, false},
		{`{"M":{"a":{"N":"1"}}}`, `{"S":"a"}`, false, false},
	} {
		if got := attribute.HasPrefix(value(t, c.v), value(t, c.part)); got != c.prefix {
			t.Errorf("HasPrefix(%s, %s) is %v", c.v, c.part, got)
		}
		if got := attribute.Contains(value(t, c.v), value(t, c.part)); got != c.contains {
			t.Errorf("Contains(%s, %s) is %v", c.v, c.part, got)
		}
	}
}

func TestSizeCountsNamesAndValues(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		`{}`:                           0,
		`{"ab":{"S":"xyz"}}`:           5,
		`{"é":{"S":"é"}}`:              4,
		`{"b":{"B":"AQID"}}`:           4,
		`{"t":{"BOOL":true}}`:          2,
		`{"n":{"NULL":true}}`:          2,
		`{"n":{"N":"0"}}`:              2,
		`{"n":{"N":"1234"}}`:           4,
		`{"n":{"N":"-1234"}}`:          5,
		`{"n":{"N":"1000"}}`:           3,
		`{"s":{"SS":["ab","c"]}}`:      4,
		`{"l":{"L":[]}}`:               4,
		`{"l":{"L":[{"S":"ab"}]}}`:     7,
		`{"m":{"M":{"k":{"S":"ab"}}}}`: 8,
	} {
		if got := item(t, in).Size(); got != want {
			t.Errorf("size of %s is %d, want %d", in, got, want)
		}
	}
}

func TestExtent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		`{"S":"é"}`: 2, `{"B":"AQID"}`: 3, `{"SS":["a","b"]}`: 2, `{"NS":["1"]}`: 1, `{"L":[{"S":"abc"}]}`: 1,
		`{"M":{"a":{"S":"b"}}}`: 1, `{"N":"12"}`: -1, `{"BOOL":true}`: -1, `{"NULL":true}`: -1,
	} {
		got, ok := attribute.Extent(value(t, in))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("extent of %s is %d, %v; want %d", in, got, ok, want)
		}
	}
}

func TestUnionAndMinusDoNotChangeTheirOperands(t *testing.T) {
	t.Parallel()
	a, b := value(t, `{"SS":["a","b"]}`).(attribute.Set), value(t, `{"SS":["b","c"]}`).(attribute.Set)
	for want, got := range map[string]attribute.Set{
		`{"SS":["a","b","c"]}`: a.Union(b),
		`{"SS":["a"]}`:         a.Minus(b),
		`{"SS":["a","b"]}`:     a,
		`{"SS":["b","c"]}`:     b,
	} {
		if !attribute.Equal(got, value(t, want)) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if n := a.Minus(a).Len(); n != 0 {
		t.Errorf("a set minus itself has %d elements", n)
	}
}

func FuzzItem(f *testing.F) {
	for _, s := range []string{
		`{"a":{"S":"x"}}`, `{"a":{"N":"1E5"},"b":{"L":[{"NULL":true}]}}`, `{"s":{"NS":["1","2"]}}`, `{"a":{}}`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second attribute.Item
		if json.Unmarshal(body, &first) != nil {
			return
		}
		encoded, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &second); err != nil {
			t.Fatalf("%s does not come back: %v", encoded, err)
		}
		if !attribute.Equal(attribute.Map(first), attribute.Map(second)) {
			t.Fatalf("%s came back as another item", encoded)
		}
	})
}
