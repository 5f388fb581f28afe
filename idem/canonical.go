package idem

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// canonicalDepth is how deep the values may be nested that canonicalizer writes. Sorting
// copies the text of an object once for each object around it.
const canonicalDepth = 32

// canonicalizer writes the same bytes as canonicalJSON in one pass over the text and
// without decoding it into values. It supports what payloads consist of, and leaves the
// rest to canonicalJSON.
type canonicalizer struct {
	text string
	at   int
	out  []byte
	// members are those of the objects that are open, the outermost first.
	members []span
	// unsorted is the buffer for the members of an object while they are put in order.
	unsorted []byte
}

// span is the place of a member in out: its name begins at start and ends before value,
// the member ends before end.
type span struct{ start, value, end int }

var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

// write sets out to the canonical form of a JSON text. It returns false for what it does
// not support; out is then not valid.
func (c *canonicalizer) write(text string) bool {
	c.text, c.at, c.out, c.members = text, 0, c.out[:0], c.members[:0]
	return utf8.ValidString(text) && c.value(0) && c.next() == 0 && c.at == len(text)
}

// next skips white space and returns the byte after it, without reading it; 0 at the end.
func (c *canonicalizer) next() byte {
	for ; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// take copies the next byte after white space if it is b, and reports whether it was.
func (c *canonicalizer) take(b byte) bool {
	if c.next() != b {
		return false
	}
	c.at++
	c.out = append(c.out, b)
	return true
}

func (c *canonicalizer) value(depth int) bool {
	switch b := c.next(); {
	case depth > canonicalDepth:
		return false
	case b == '"':
		return c.str()
	case b == '{':
		return c.object(depth)
	case b == '[':
		return c.array(depth)
	case b == '-' || isDigit(b):
		return c.number()
	default:
		return c.word("true") || c.word("false") || c.word("null")
	}
}

func (c *canonicalizer) word(w string) bool {
	if !strings.HasPrefix(c.text[c.at:], w) {
		return false
	}
	c.at += len(w)
	c.out = append(c.out, w...)
	return true
}

func (c *canonicalizer) array(depth int) bool {
	if c.take('['); c.take(']') {
		return true
	}
	for c.value(depth + 1) {
		if !c.take(',') {
			return c.take(']')
		}
	}
	return false
}

func (c *canonicalizer) object(depth int) bool {
	if c.take('{'); c.take('}') {
		return true
	}
	open, ordered := len(c.members), true
	for {
		m := span{start: len(c.out)}
		if c.next() != '"' || !c.name() {
			return false
		}
		m.value = len(c.out)
		if !c.take(':') || !c.value(depth+1) {
			return false
		}
		m.end = len(c.out)
		if n := len(c.members); n > open {
			ordered = ordered && bytes.Compare(c.nameOf(c.out, c.members[n-1]), c.nameOf(c.out, m)) < 0
		}
		c.members = append(c.members, m)
		if !c.take(',') {
			break
		}
	}
	if !ordered {
		c.sort(c.members[open:])
	}
	c.members = c.members[:open]
	return c.take('}')
}

// name copies the name of a member. It returns false if that has escapes: names are sorted
// by their text without them.
func (c *canonicalizer) name() bool {
	start := len(c.out)
	return c.str() && bytes.IndexByte(c.out[start:], '\\') < 0
}

// nameOf returns the name of a member without its quotes.
func (*canonicalizer) nameOf(out []byte, m span) []byte { return out[m.start+1 : m.value-1] }

// sort puts the members at the end of out in the order of their names. Of those with the
// same name, the last one counts.
func (c *canonicalizer) sort(members []span) {
	first := members[0].start
	c.unsorted = append(c.unsorted[:0], c.out[first:]...)
	for i := range members {
		m := &members[i]
		m.start, m.value, m.end = m.start-first, m.value-first, m.end-first
	}
	slices.SortFunc(members, func(a, b span) int {
		return cmp.Or(bytes.Compare(c.nameOf(c.unsorted, a), c.nameOf(c.unsorted, b)), cmp.Compare(a.start, b.start))
	})
	c.out = c.out[:first]
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(c.nameOf(c.unsorted, m), c.nameOf(c.unsorted, members[i+1])) {
			continue
		}
		if len(c.out) > first {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.unsorted[m.start:m.end]...)
	}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// number copies a number as it is written.
func (c *canonicalizer) number() bool {
	start := c.at
	c.skip('-', '-')
	if !c.skip('0', '0') && !c.digits() {
		return false
	}
	if c.skip('.', '.') && !c.digits() {
		return false
	}
	if c.skip('e', 'E') {
		c.skip('+', '-')
		if !c.digits() {
			return false
		}
	}
	c.out = append(c.out, c.text[start:c.at]...)
	return true
}

// skip skips one byte if it is one of two.
func (c *canonicalizer) skip(a, b byte) bool {
	if c.at < len(c.text) && (c.text[c.at] == a || c.text[c.at] == b) {
		c.at++
		return true
	}
	return false
}

func (c *canonicalizer) digits() bool {
	start := c.at
	for c.at < len(c.text) && isDigit(c.text[c.at]) {
		c.at++
	}
	return c.at > start
}

// isPlain has the bytes of a string that are copied unchanged. 0xE2 begins the two line
// separators, U+2028 and U+2029, which get an escape.
var isPlain = func() (plain [256]bool) {
	for b := int(' '); b < len(plain); b++ {
		plain[b] = strings.IndexByte("\"\\<>&\xe2", byte(b)) < 0
	}
	return plain
}()

// str copies a string with the escapes of encoding/json, whatever its own are.
func (c *canonicalizer) str() bool {
	c.take('"')
	for {
		start := c.at
		for c.at < len(c.text) && isPlain[c.text[c.at]] {
			c.at++
		}
		c.out = append(c.out, c.text[start:c.at]...)
		if c.at == len(c.text) {
			return false
		}
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			c.out = append(c.out, b)
			return true
		case b == '\\':
			if !c.escape() {
				return false
			}
		case b < ' ':
			return false
		default:
			r, size := utf8.DecodeRuneInString(c.text[c.at:])
			c.at += size
			c.encode(r)
		}
	}
}

// escape writes an escape as encoding/json has it.
func (c *canonicalizer) escape() bool {
	if r, ok := c.unicode(); ok {
		if next, ok := c.unicode(); ok {
			if pair := utf16.DecodeRune(r, next); pair != utf8.RuneError {
				c.encode(pair)
				return true
			}
			c.at -= len(`\u0000`)
		}
		c.encode(r) // half of a pair becomes utf8.RuneError
		return true
	}
	if c.at+1 >= len(c.text) {
		return false
	}
	switch letter := c.text[c.at+1]; letter {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		c.out = append(c.out, '\\', letter)
	case '/':
		c.out = append(c.out, letter)
	default:
		return false
	}
	c.at += 2
	return true
}

// unicode reads an escape with four digits, if one is next.
func (c *canonicalizer) unicode() (rune, bool) {
	digits, ok := strings.CutPrefix(c.text[c.at:], `\u`)
	if !ok || len(digits) < 4 {
		return 0, false
	}
	var unit rune
	for _, b := range []byte(digits[:4]) {
		digit := strings.IndexByte(hexDigits, b|0x20)
		if digit < 0 || b < '0' {
			return 0, false
		}
		unit = unit<<4 | rune(digit)
	}
	c.at += len(`\u0000`)
	return unit, true
}

const hexDigits = "0123456789abcdef"

// encode writes a character that is written in the text as an escape, or gets one here.
func (c *canonicalizer) encode(r rune) {
	const escaped, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	switch i := strings.IndexRune(escaped, r); {
	case i >= 0:
		c.out = append(c.out, '\\', letters[i])
	case r < ' ' || strings.ContainsRune("<>&\u2028\u2029", r):
		c.out = append(c.out, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
	default:
		c.out = utf8.AppendRune(c.out, r)
	}
}
