package sqsevent

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Strings are copied a word at a time. lows and highs have the lowest and the highest bit
// of each byte of a word.
const (
	wordBytes = 8
	lows      = 0x0101010101010101
	highs     = 0x80 * lows
)

// special returns a word with the highest bit of each byte that does not stand for itself
// in a string: a quote, a backslash or a control character. Bytes above the lowest one
// that is found may be wrong.
func special(word uint64) uint64 {
	quote, backslash := word^'"'*lows, word^'\\'*lows
	return ((quote-lows)&^quote | (backslash-lows)&^backslash | (word-' '*lows)&^word) & highs
}

// str reads a string.
func (r *reader) str() string {
	r.want('"')
	start, nonASCII := r.used, uint64(0)
	for !r.failed {
		nonASCII |= r.copyPlain()
		if r.at == len(r.data) {
			r.fail()
			break
		}
		switch r.data[r.at] {
		case '"':
			r.at++
			if nonASCII != 0 && !utf8.Valid(r.arena[start:r.used]) {
				r.fail()
			}
			return r.kept(start)
		case '\\':
			r.escape()
		default:
			r.fail()
		}
	}
	return ""
}

// keep returns a name as a string that does not refer to data. It fails if the name is not
// printable ASCII without escapes.
func (r *reader) keep(text []byte) string {
	for _, c := range text {
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			r.fail()
		}
	}
	start := r.used
	r.used += copy(r.arena[start:], text)
	return r.kept(start)
}

// kept returns what was added to the arena. It may refer to the arena, since nothing in
// there is ever changed.
func (r *reader) kept(start int) string {
	return unsafe.String(unsafe.SliceData(r.arena[start:]), r.used-start) //nolint:gosec // see above
}

// copyPlain copies bytes up to one that does not stand for itself. Escaped quotes do not stop
// it, since JSON in a body has one for each ten bytes. The result is not zero if some bytes
// are not ASCII.
func (r *reader) copyPlain() (nonASCII uint64) {
	data, arena, at, used := r.data, r.arena, r.at, r.used
	for at+wordBytes <= len(data) {
		word := binary.LittleEndian.Uint64(data[at:])
		binary.LittleEndian.PutUint64(arena[used:], word)
		if found := special(word); found != 0 {
			n := bits.TrailingZeros64(found) / wordBytes
			nonASCII |= word & highs & (1<<(n*wordBytes) - 1)
			at, used = at+n, used+n
			if data[at] == '\\' && at+1 < len(data) && data[at+1] == '"' {
				arena[used] = '"'
				at, used = at+len(`\"`), used+1
				continue
			}
			r.at, r.used = at, used
			return nonASCII
		}
		nonASCII |= word & highs
		at += wordBytes
		used += wordBytes
	}
	for ; at < len(data) && special(uint64(data[at])|' '*lows&^0xff) == 0; at++ {
		nonASCII |= uint64(data[at]) & highs
		arena[used] = data[at]
		used++
	}
	r.at, r.used = at, used
	return nonASCII
}

// escape decodes an escape. It fails for half of a surrogate pair.
func (r *reader) escape() {
	if r.at+1 == len(r.data) {
		r.fail()
		return
	}
	c := r.data[r.at+1]
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r.unicode()
		return
	default:
		r.fail()
	}
	r.arena[r.used] = c
	r.used++
	r.at += len(`\n`)
}

func (r *reader) unicode() {
	char := r.unit()
	if utf16.IsSurrogate(char) {
		if char = utf16.DecodeRune(char, r.unit()); char == utf8.RuneError {
			r.fail()
		}
	}
	r.used += utf8.EncodeRune(r.arena[r.used:], char)
}

// unit reads an escape with four hexadecimal digits.
func (r *reader) unit() rune {
	const length = len(`\u0000`)
	text := r.data[r.at:min(r.at+length, len(r.data))]
	if len(text) < length || text[0] != '\\' || text[1] != 'u' {
		r.fail()
		return 0
	}
	unit, err := strconv.ParseUint(string(text[2:]), 16, 16)
	if err != nil {
		r.fail()
	}
	r.at += length
	return rune(unit)
}
