package sqsevent

import "bytes"

// reader reads JSON. When it finds something that it does not support, it sets failed,
// and its results must not be used.
type reader struct {
	data   []byte
	at     int
	failed bool
	// arena holds all strings, without escapes. A string is not longer than its JSON, so
	// that it is never reallocated. The first used bytes are taken.
	arena []byte
	used  int
}

func newReader(data []byte) *reader {
	return &reader{data: data, arena: make([]byte, len(data)+wordBytes)}
}

func (r *reader) fail() { r.failed = true }

func (r *reader) space() {
	for r.at < len(r.data) && r.data[r.at] == ' ' {
		r.at++
	}
}

// take skips space and then c, if that is next, and reports whether it was.
func (r *reader) take(c byte) bool {
	r.space()
	if r.failed || r.at >= len(r.data) || r.data[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) want(c byte) {
	if !r.take(c) {
		r.fail()
	}
}

// object reads an object; it calls member with each name to read the value.
func (r *reader) object(member func(name []byte)) {
	r.want('{')
	if r.take('}') {
		return
	}
	for !r.failed {
		name := r.name()
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
	const null = "null"
	r.space()
	if len(r.data)-r.at < len(null) || string(r.data[r.at:r.at+len(null)]) != null {
		return false
	}
	r.at += len(null)
	return true
}

// name reads the name of a member, which is a part of data, up to the next quote. keep
// fails for names that do not stand for themselves.
func (r *reader) name() []byte {
	r.want('"')
	if length := bytes.IndexByte(r.data[r.at:], '"'); length >= 0 && !r.failed {
		start := r.at
		r.at += length + 1
		return r.data[start : start+length]
	}
	r.fail()
	return nil
}
