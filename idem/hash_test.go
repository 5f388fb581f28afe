package idem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPayloadHash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b" : 2, "a" : 1 }`, true},
		{`{"a":{"x":1,"y":[1,2]}}`, `{"a":{"y":[1,2],"x":1}}`, true},
		{`{"a":"ä"}`, `{"a":"\u00e4"}`, true},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1} x`, `{"a":1}  x`, false},
		{`plain`, `plain`, true},
		{`plain`, `plain `, false},
		{``, ` `, false},
		{"\"\xff\"", "\"\xfe\"", false},
		{`"\ud800"`, `"\ud801"`, false},
		{`{"a":"caf\u00e9"}`, `{"a":"cafe\u0301"}`, false},
		{`{"a":1e2}`, `{"a":100}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
	} {
		if got := payloadHash("", c.a) == payloadHash("", c.b); got != c.same {
			t.Errorf("%q and %q have the same hash: %t, want %t", c.a, c.b, got, c.same)
		}
	}
}

// canonicalTexts are JSON and almost JSON, with what each of them has a rule for.
var canonicalTexts = []string{
	``, ` `, `{}`, ` { } `, `[]`, `[ ]`, `{"b":1,"a":[{}]}`, `{"a":{"y":[1,2],"x":1},"A":null}`,
	`{"a":1,"a":2,"b":3,"a":4}`,
	`{"b":1,"a":1,"b":{"d":1,"c":2,"d":3}}`, `{"\u0061":1,"a":2}`, `{"a<":1,"a;":2}`,
	`{"ä":1,"z":2,"é":3}`, `{"":1,"a":{"":2}}`,
	`"\"\\\/\b\f\n\r\t"`, `"\u0041\u00E4\u00e4\u003c\u0022\u005c\u002f\u0008\u000c\u000a\u001f\u007f"`,
	`"<a href='x'>&amp;</a>"`,
	"\"\u2028\u2029\u2027 \u00e2\"", `"\u2028"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`,
	`"\ud83d\u0041"`, `"\ude00\ud83d\ude00"`,
	`"\ufffd"`, "\"\ufffd\"", `"\uD83D\uDE00 ü"`, "\"\x7f\"", "\"\x01\"", "\"\t\"", "\"\xff\"", "\ufeff1",
	`0`, `-0`, `00`, `01`, `-`, `-1.50e+07`, `1.`, `.5`, `1e`, `1e+`, `1E5`, `+1`, `1e400`,
	`12345678901234567890`, `0x1`,
	`true`, `false`, `null`, `nul`, `truefalse`, `NaN`, `1 2`, `{"a":1} x`, `{"a":1}]`, `[1,]`, `[,1]`,
	`[1 2]`, `{"a"}`, `{"a":}`,
	`{"a":1,}`, `{,}`, `{a:1}`, `{"a":1 "b":2}`, `[`, `{`, `"`, `"\`, `"\u`, `"\u12`, `"\u12g4"`,
	"\"\\u\x10041\"", `"\x"`, `{"a`, `{"a":`,
	`plain`, "1\x00", "\v1", strings.Repeat("[", 20000),
	strings.Repeat("[", 31) + "{}" + strings.Repeat("]", 31),
	strings.Repeat("[", 100) + `{"b":1,"a":1}` + strings.Repeat("]", 100),
	strings.Repeat(`{"b":`, 40) + "1" + strings.Repeat("}", 40),
}

// checkCanonical compares the canonical form that is written in one pass with that of
// encoding/json.
func checkCanonical(t *testing.T, c *canonicalizer, text string) {
	t.Helper()
	want, err := canonicalJSON([]byte(text))
	if c.write(text) && (err != nil || !bytes.Equal(c.out, want)) {
		t.Errorf("%.200q became %.200q, want %.200q, %v", text, c.out, want, err)
	}
	if err != nil || bytes.ContainsRune(want, utf8.RuneError) {
		want = []byte(text)
	}
	if sum := sha256.Sum256(want); payloadHash("", text) != hex.EncodeToString(sum[:]) {
		t.Errorf("the hash of %.200q is not that of %.200q", text, want)
	}
}

func TestCanonicalFormIsThatOfEncodingJSON(t *testing.T) {
	t.Parallel()
	c := new(canonicalizer) // used again for each text, as one of the pool is
	for _, text := range canonicalTexts {
		checkCanonical(t, c, text)
	}
}

func TestUsualPayloadsAreWrittenInOnePass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id":"o-1","amount":1.50,"lines":[{"sku":"a","n":1},{"n":2,"sku":"b"}],"paid":true,"note":null}`,
		`{"Message":"{\"id\":\"o-1\",\"text\":\"line\\nline\"}","Type":"Notification"}`,
		`{"größe":"süß \u00e4 <b>&\u2028"}`,
	} {
		if !new(canonicalizer).write(text) {
			t.Errorf("%s is left to encoding/json", text)
		}
	}
}

func FuzzCanonicalForm(f *testing.F) {
	for _, text := range canonicalTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCanonical(t, new(canonicalizer), text) })
}

func BenchmarkPayloadHash(b *testing.B) {
	line := `{"sku":"SKU-00001","quantity":1,"priceCents":100,"text":"a \"quoted\" word"},`
	body := `{"id":"order-1","kind":"order.created","amountCents":1000,"lines":[` + strings.Repeat(line, 12) + `{}]}`
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		payloadHash("", body)
	}
}

func TestPayloadHashNamesItsScheme(t *testing.T) {
	t.Parallel()
	const want = "body1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got := (Hash{}).Validation(" { } "); got != want {
		t.Fatalf("hash is %s, want %s; a new way to hash needs a new scheme", got, want)
	}
}

func FuzzPayloadHash(f *testing.F) {
	for _, body := range []string{
		`{"b":1,"a":[{}]}`, `"\ud800"`, `{"a":1.0,"b":{"d":"<","c":1e400}}`, `plain`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var indented bytes.Buffer
		if !utf8.Valid(body) || json.Indent(&indented, body, " ", "\t") != nil {
			return
		}
		canonical, err := canonicalJSON(body)
		if err != nil || bytes.ContainsRune(canonical, utf8.RuneError) {
			return // counts byte by byte
		}
		if payloadHash("", string(body)) != payloadHash("", indented.String()) {
			t.Fatalf("white space changed the hash of %q", body)
		}
	})
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, body := range []string{
		`{"b":1,"a":[{}]}`, `1e999`, `"\ud800"`, `{"a":1,"a":2}`, `[`, strings.Repeat("[", 20000),
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := canonicalJSON(body)
		if err != nil {
			return
		}
		if !json.Valid(once) || !json.Valid(body) {
			t.Fatalf("%q became %q: both have to be JSON", body, once)
		}
		twice, err := canonicalJSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q and then %q, %v", body, once, twice, err)
		}
	})
}

func TestHashFieldsTakesItsMembersOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields []string
		a, b   string
		same   bool
	}{
		{[]string{"id"}, `{"id":"ch-1","sent":"12:00"}`, `{"sent":"12:05", "id":"ch-1"}`, true},
		{[]string{"id"}, `{"id":"ch-1"}`, `{"id":"ch-2"}`, false},
		{[]string{"id", "amount"}, `{"id":1,"amount":2}`, `{"amount":2,"id":1,"x":3}`, true},
		{[]string{"id", "amount"}, `{"id":1,"amount":2}`, `{"id":2,"amount":1}`, false},
		{[]string{"order.id"}, `{"order":{"id":7,"at":1}}`, `{"order":{"id":7,"at":2}}`, true},
		{[]string{"order.id"}, `{"order":{"id":7}}`, `{"order":{"id":"7"}}`, false},
		{[]string{"order"}, `{"order":{"id":7,"at":1}}`, `{"order":{"at":1,"id":7},"x":1}`, true},
		{[]string{"order"}, `{"order":[1,2]}`, `{"order":[2,1]}`, false},
		{[]string{"id"}, `{"id":1}`, `{"id":1.0}`, false},
		{[]string{"id"}, `{"id":null}`, `{"other":1}`, true}, // what is missing counts as null
		{[]string{"order.id"}, `{"order":7}`, `{"order":"x"}`, true},
		{[]string{"id"}, `{"id":"a"}`, `{"ID":"a"}`, false},
		{[]string{"id"}, `[1]`, `[2]`, false}, // no object: all of it
		{[]string{"id"}, `plain`, `plain `, false},
		{[]string{"id"}, `{"id":1} x`, `{"id":1} y`, false},
		{[]string{"a.b", "a.c"}, `{"a":{"b":1,"c":2,"d":3}}`, `{"a":{"c":2,"b":1}}`, true},
	} {
		h := HashFields(c.fields...)
		if got := h.Validation(c.a) == h.Validation(c.b); got != c.same {
			t.Errorf("of %q, %s and %s have the same hash: %t, want %t", c.fields, c.a, c.b, got, c.same)
		}
	}
}

func TestHashFieldsIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	const payload = `{"id":1,"amount":2}`
	if a, b := HashFields("id", "amount").Validation(payload), HashFields("amount", "id").Validation(payload); a != b {
		t.Errorf("hashes are %s and %s", a, b)
	}
}

// A deploy that changes the selection makes no conflicts of what is under way: hashes of
// two schemes are not compared. The schemes are kept in the store, so they stay.
func TestEachSelectionHasAScheme(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]Hash{
		"body1": {}, "none1": HashNothing(), "fields1-a56145270ce6": HashFields("id"),
		"fields1-195256014ae9": HashFields("id", "amount"), "fields1-d350a97a642b": HashFields("id.amount"),
	} {
		if scheme, _, _ := strings.Cut(h.Validation(`{"id":1}`), ":"); scheme != want {
			t.Errorf("the scheme of %+v is %s, want %s", h, scheme, want)
		}
	}
}

func TestHashNothingComparesNothing(t *testing.T) {
	t.Parallel()
	if a, b := HashNothing().Validation("a"), HashNothing().Validation("b"); a != b {
		t.Errorf("hashes are %s and %s", a, b)
	}
}

func TestTheZeroHash(t *testing.T) {
	t.Parallel()
	if !(Hash{}).IsZero() || HashNothing().IsZero() || HashFields("id").IsZero() || HashFields().IsZero() {
		t.Error("only the zero value takes the whole payload")
	}
}

func FuzzHashFields(f *testing.F) {
	f.Add(`{"id":"a","n":{"x":1}}`, "id", "n.x")
	f.Add(`{"id":1,"id":2}`, "id", "other")
	f.Add("\xff", "id", "a")
	f.Fuzz(func(t *testing.T, body, one, other string) {
		h := HashFields(one, other)
		if h.err != nil {
			return
		}
		first := h.Validation(body)
		if first != HashFields(other, one).Validation(body) || !strings.HasPrefix(first, "fields1-") {
			t.Fatalf("%q of %q and %q is hashed as %s, and in the other order not", body, one, other, first)
		}
	})
}
