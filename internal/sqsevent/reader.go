package sqsevent

import (
	"strconv"
	"strings"
)

// reader reads JSON without control characters. When it finds something that it
// does not support, it sets failed, and its results must not be used.
type reader struct {
	text   string
	at     int
	failed bool
	// unescaped holds the strings that had escapes. It has the capacity of the
	// whole text, so that it is never reallocated.
	unescaped strings.Builder
}

func (r *reader) space() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

// take skips space and then c, if that is next, and reports whether it was.
func (r *reader) take(c byte) bool {
	r.space()
	if r.failed || r.at >= len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) want(c byte) {
	if !r.take(c) {
		r.failed = true
	}
}

// object reads an object; it calls member with each name to read the value.
func (r *reader) object(member func(name string)) {
	r.want('{')
	if r.take('}') {
		return
	}
	for !r.failed {
		name := r.str()
		r.want(':')
		member(name)
		if r.take('}') {
			return
		}
		r.want(',')
	}
}

func (r *reader) array(element func()) {
	r.want('[')
	if r.take(']') {
		return
	}
	for !r.failed {
		element()
		if r.take(']') {
			return
		}
		r.want(',')
	}
}

// empty reads an array without elements.
func (r *reader) empty() {
	r.want('[')
	r.want(']')
}

// null skips a null, if that is next, and reports whether it was.
func (r *reader) null() bool {
	r.space()
	if strings.HasPrefix(r.text[r.at:], "null") {
		r.at += len("null")
		return true
	}
	return false
}

// str reads a string. A string without escapes is a substring of the text.
func (r *reader) str() string {
	r.want('"')
	if r.failed {
		return ""
	}
	rest := r.text[r.at:]
	quote := strings.IndexByte(rest, '"')
	if quote < 0 {
		r.failed = true
		return ""
	}
	escape := strings.IndexByte(rest[:quote], '\\')
	if escape < 0 {
		r.at += quote + 1
		return rest[:quote]
	}
	return r.escaped()
}

// escaped reads a string with escapes, from after its first quote.
func (r *reader) escaped() string {
	start := r.unescaped.Len()
	for !r.failed {
		rest := r.text[r.at:]
		next := strings.IndexAny(rest, `"\`)
		if next < 0 {
			break
		}
		r.unescaped.WriteString(rest[:next])
		r.at += next + 1
		if rest[next] == '"' {
			return r.unescaped.String()[start:]
		}
		r.escape()
	}
	r.failed = true
	return ""
}

// escape reads the rest of an escape after the backslash. It fails for
// surrogate pairs.
func (r *reader) escape() {
	rest := r.text[r.at:]
	if rest == "" {
		r.failed = true
		return
	}
	r.at++
	switch c := rest[0]; c {
	case '"', '\\', '/':
		r.unescaped.WriteByte(c)
	case 'n':
		r.unescaped.WriteByte('\n')
	case 't':
		r.unescaped.WriteByte('\t')
	case 'r':
		r.unescaped.WriteByte('\r')
	case 'b':
		r.unescaped.WriteByte('\b')
	case 'f':
		r.unescaped.WriteByte('\f')
	case 'u':
		r.unicode(rest[1:])
	default:
		r.failed = true
	}
}

// unicode reads the four hexadecimal digits of an escape.
func (r *reader) unicode(rest string) {
	const digits = 4
	if len(rest) < digits {
		r.failed = true
		return
	}
	code, err := strconv.ParseUint(rest[:digits], 16, 16)
	if err != nil || 0xD800 <= code && code <= 0xDFFF {
		r.failed = true
		return
	}
	r.unescaped.WriteRune(rune(code))
	r.at += digits
}
