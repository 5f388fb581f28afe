package idem

import (
	"bytes"
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
		if got := payloadHash(c.a) == payloadHash(c.b); got != c.same {
			t.Errorf("%q and %q have the same hash: %t, want %t", c.a, c.b, got, c.same)
		}
	}
}

func TestPayloadHashNamesItsScheme(t *testing.T) {
	t.Parallel()
	const want = "body1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got := (Hash{}).validation(" { } "); got != want {
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
		if payloadHash(string(body)) != payloadHash(indented.String()) {
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
