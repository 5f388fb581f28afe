// Package jsonobject reads the members of a JSON object one after the other, in
// their order and with their repetitions, which a map loses. It validates nothing.
package jsonobject

import (
	"encoding/json"
	"strings"
)

// Scanner gives the members of one object. It is made for text that is known to
// be valid JSON; on any other text it may stop early or give what is no member,
// but it always ends. It is not safe for concurrent use.
type Scanner struct {
	rest string
	// value tells that rest begins with the value of the last member.
	value bool
}

// Scan begins with the first member of the object in text. Any other JSON value
// has no members.
func Scan(text string) Scanner {
	text = text[spaces(text):]
	if text == "" || text[0] != '{' {
		return Scanner{}
	}
	return Scanner{rest: text[1:]}
}

// Next gives the name of the next member, without escapes. ok is false when
// there is none.
func (s *Scanner) Next() (name string, ok bool) {
	if s.value {
		s.Value()
	}
	s.rest = s.rest[spaces(s.rest):]
	if s.rest != "" && s.rest[0] == ',' {
		s.rest = s.rest[1:]
		s.rest = s.rest[spaces(s.rest):]
	}
	if s.rest == "" || s.rest[0] != '"' {
		s.rest = ""
		return "", false
	}
	end := endOfString(s.rest)
	quoted := s.rest[:end]
	s.rest = s.rest[end:]
	s.rest = s.rest[spaces(s.rest):]
	if s.rest == "" || s.rest[0] != ':' {
		s.rest = ""
		return "", false
	}
	s.rest, s.value = s.rest[1:], true
	return unquoted(quoted), true
}

// Value gives the text of the value of the member that Next has named, without
// space around it. It is empty when it is called a second time.
func (s *Scanner) Value() string {
	if !s.value {
		return ""
	}
	s.value = false
	text := s.rest[spaces(s.rest):]
	end := endOfValue(text)
	s.rest = text[end:]
	return text[:end]
}

// spaces is how many bytes of white space text begins with.
func spaces(text string) int {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return i
		}
	}
	return len(text)
}

// endOfString is the length of the string that text begins with, quotes included.
func endOfString(text string) int {
	for at := 1; at < len(text); {
		next := strings.IndexByte(text[at:], '"')
		if next < 0 {
			break
		}
		at += next + 1
		if !escaped(text[1 : at-1]) {
			return at
		}
	}
	return len(text)
}

// escaped tells whether what follows text is escaped: an odd number of
// backslashes is at its end.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// endOfValue is the length of the value that text begins with.
func endOfValue(text string) int {
	depth := 0
	for at := 0; at < len(text); {
		switch text[at] {
		case '"':
			at += endOfString(text[at:])
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth == 0 { // of the object around a number or a word
				return at
			}
			depth--
			at++
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			at++
			continue
		default:
			at++
			continue
		}
		if depth == 0 {
			return at
		}
	}
	return len(text)
}

// unquoted is the string that quoted stands for.
func unquoted(quoted string) string {
	inner := strings.TrimSuffix(quoted[1:], `"`)
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner
	}
	return text
}
