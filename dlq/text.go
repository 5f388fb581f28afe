package dlq

import (
	"strings"
	"unicode/utf8"
)

// legal reports whether SQS accepts r in a body or an attribute: the characters of XML
// 1.0, as the reference of SendMessage lists them.
func legal(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return true
	case r < ' ':
		return false
	default:
		return r <= 0xD7FF || 0xE000 <= r && r <= 0xFFFD || 0x10000 <= r && r <= utf8.MaxRune
	}
}

// clean returns s with U+FFFD in place of characters that SQS does not accept.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if legal(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

// cleanAll returns the cleaned strings in a new slice.
func cleanAll(in []string) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = clean(s)
	}
	return out
}

// prefix returns at most the first n bytes of s, without splitting a character.
func prefix(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
