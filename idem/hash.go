package idem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// hashScheme names what is hashed and how. It changes with either, so that a
// deploy takes no payload for another.
const hashScheme = "body1:"

// payloadHash is equal for bodies that say the same: JSON counts by its values,
// whatever the order of members and the white space. Numbers count as written,
// since 1.0 may be more exact than 1, and text as it is, since two spellings of
// an accent may be two names. What is not JSON counts byte by byte, and so does
// JSON that stands for no text.
func payloadHash(body string) string {
	content := []byte(body)
	if canonical, err := canonicalJSON(content); err == nil && !bytes.ContainsRune(canonical, utf8.RuneError) {
		content = canonical
	}
	sum := sha256.Sum256(content)
	return hashScheme + hex.EncodeToString(sum[:])
}

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
