package dlq

import (
	"strings"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// clean returns s with U+FFFD in place of characters that SQS does not accept.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if sqssend.Legal(r) {
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
