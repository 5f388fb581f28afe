package idem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hash selects what of a payload is hashed, to tell one job from another that has the
// same key. The zero value takes the whole payload: JSON by its values, and what is
// not JSON byte by byte. Hashes of two selections are never compared, so that a deploy
// may change it.
type Hash struct {
	fields  []string
	nothing bool
	err     error
}

// IsZero reports whether the whole payload is taken.
func (h Hash) IsZero() bool { return h.fields == nil && !h.nothing && h.err == nil }

// HashFields takes members of a JSON payload only, named as [JSONField] names them: for
// payloads with parts that change with each sending, such as a time. A member that is
// missing counts as null, and what is not a JSON object is hashed as a whole.
func HashFields(paths ...string) Hash {
	h := Hash{fields: slices.Sorted(slices.Values(paths))}
	for _, path := range paths {
		if path == "" || slices.Contains(strings.Split(path, "."), "") {
			h.err = fmt.Errorf("idem: HashFields: path %q has an empty name; write it like \"id\" or \"order.id\"", path)
		}
	}
	if len(paths) == 0 {
		h.err = errors.New("idem: HashFields: no path is named; name one, or use HashNothing")
	}
	return h
}

// HashNothing compares no payloads: whatever comes under one key is one job. A second
// payload under a key that was used is a duplicate then, and is not run.
func HashNothing() Hash { return Hash{nothing: true} }

// wholeScheme names what is hashed and how. It changes with either, so that a deploy
// takes no payload for another.
const wholeScheme = "body1:"

// Validation returns the hash of a content behind the name of its scheme, as the ledger keeps
// it in the attribute of that name. Tools compare it with an item's.
func (h Hash) Validation(content string) string {
	switch {
	case h.nothing:
		return "none1:"
	case len(h.fields) > 0:
		return h.ofFields(content)
	default:
		return payloadHash(wholeScheme, content)
	}
}

// ofFields hashes the selected members, as an array of their canonical forms.
func (h Hash) ofFields(content string) string {
	names := sha256.Sum256([]byte(strings.Join(h.fields, "\x00")))
	scheme := "fields1-" + hex.EncodeToString(names[:6]) + ":"
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(content), &members) != nil || members == nil {
		return payloadHash(scheme, content)
	}
	values := make([]json.RawMessage, len(h.fields))
	for i, path := range h.fields {
		values[i] = member(members, strings.Split(path, "."))
	}
	selected, err := json.Marshal(values)
	if err != nil {
		return payloadHash(scheme, content)
	}
	return payloadHash(scheme, string(selected))
}

// member follows names through objects; null where there is no such member.
func member(members map[string]json.RawMessage, names []string) json.RawMessage {
	for i, name := range names {
		value, ok := members[name]
		if !ok {
			break
		}
		if i == len(names)-1 {
			return value
		}
		members = nil
		if json.Unmarshal(value, &members) != nil {
			break
		}
	}
	return json.RawMessage("null")
}

// payloadHash returns a hash behind the name of its scheme. It is equal for contents that
// say the same: JSON counts by its values, whatever the order of members and the white
// space. Numbers count as written, since 1.0 may be more exact than 1, and text as it is,
// since two spellings of an accent may be two names. What is not JSON counts byte by byte,
// and so does JSON that stands for no text.
func payloadHash(scheme, body string) string {
	c := canonicalizers.Get().(*canonicalizer)
	defer canonicalizers.Put(c)
	var canonical []byte
	var err error
	if c.write(body) {
		canonical = c.out
	} else {
		canonical, err = canonicalJSON([]byte(body))
	}
	if err != nil || bytes.Contains(canonical, replacement) {
		canonical = []byte(body)
	}
	sum := sha256.Sum256(canonical)
	return string(hex.AppendEncode(append(make([]byte, 0, 96), scheme...), sum[:]))
}

// replacement stands for what is no text. bytes.ContainsRune is many times slower.
var replacement = []byte(string(utf8.RuneError))

var errNotJSON = errors.New("not one JSON value in UTF-8")

// canonicalJSON sorts the members of all objects and leaves out white space.
func canonicalJSON(body []byte) ([]byte, error) {
	if !utf8.Valid(body) {
		return nil, errNotJSON
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errNotJSON
	}
	return json.Marshal(value)
}
