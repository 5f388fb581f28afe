package protocol

import (
	"bytes"
	"reflect"
	"sync"
)

// pattern is what a type knows of a JSON value.
type pattern struct {
	// members are those of a struct by their names, each is the part of all elements of a
	// slice or map. Without both, all values are fine.
	members  map[string]*pattern
	each     *pattern
	isObject bool
}

var patterns sync.Map // *pattern by reflect.Type

func patternOf(t reflect.Type) *pattern {
	if p, ok := patterns.Load(t); ok {
		return p.(*pattern)
	}
	p := newPattern(t, map[reflect.Type]*pattern{})
	patterns.Store(t, p)
	return p
}

// newPattern is the pattern of a type. Types that contain themselves are found in made.
func newPattern(t reflect.Type, made map[reflect.Type]*pattern) *pattern {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if p := made[t]; p != nil {
		return p
	}
	p := &pattern{}
	made[t] = p
	if t.Kind() == reflect.Pointer || reflect.PointerTo(t).Implements(unmarshaler) {
		return p
	}
	switch t.Kind() {
	case reflect.Struct:
		p.isObject, p.members = true, map[string]*pattern{}
		for name, member := range membersOf(t) {
			p.members[name] = newPattern(member, made)
		}
	case reflect.Map:
		p.isObject, p.each = true, newPattern(t.Elem(), made)
	case reflect.Slice:
		p.each = newPattern(t.Elem(), made)
	}
	return p
}

// reader walks through a valid JSON text. Each method moves it behind what it has read,
// and reports false if it cannot tell whether all members are known.
type reader struct {
	text []byte
	at   int
}

// surelyKnown reports whether a valid JSON text has only members that the type has. False
// says nothing: the caller looks more closely, and finds the name for its message.
func surelyKnown(text []byte, t reflect.Type) bool {
	r := &reader{text: text}
	return r.value(patternOf(t))
}

// next is the next byte that is no white space; 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

var anyValue = &pattern{}

func (r *reader) value(p *pattern) bool {
	switch r.next() {
	case '{':
		return (p.isObject || p.each == nil) && r.object(p)
	case '[':
		return !p.isObject && r.array(p)
	case '"':
		_, ok := r.quoted()
		return ok
	default:
		return r.word()
	}
}

func (r *reader) object(p *pattern) bool {
	r.at++
	for r.next() != '}' {
		name, ok := r.quoted()
		if !ok || r.next() != ':' {
			return false
		}
		r.at++
		part := anyValue
		switch {
		case p.members != nil:
			if part, ok = p.members[string(name)]; !ok {
				return false
			}
		case p.each != nil:
			part = p.each
		}
		if !r.value(part) || !r.comma('}') {
			return false
		}
	}
	r.at++
	return true
}

func (r *reader) array(p *pattern) bool {
	r.at++
	part := p.each
	if part == nil {
		part = anyValue
	}
	for r.next() != ']' {
		if !r.value(part) || !r.comma(']') {
			return false
		}
	}
	r.at++
	return true
}

// comma passes a comma, and reports whether there is one or the end.
func (r *reader) comma(end byte) bool {
	switch r.next() {
	case ',':
		r.at++
		return true
	case end:
		return true
	}
	return false
}

// quoted is a string as it is written. One with escapes is passed, too: as a name it is
// not known.
func (r *reader) quoted() (raw []byte, ok bool) {
	if r.next() != '"' {
		return nil, false
	}
	begin := r.at + 1
	for at := begin; ; {
		n := bytes.IndexAny(r.text[at:], `"\`)
		switch {
		case n < 0:
			return nil, false
		case r.text[at+n] == '"':
			r.at = at + n + 1
			return r.text[begin : at+n], true
		}
		if at += n + 2; at > len(r.text) {
			return nil, false
		}
	}
}

// word passes a number, true, false or null.
func (r *reader) word() bool {
	n := bytes.IndexAny(r.text[r.at:], ",:]} \t\r\n")
	if n < 0 {
		n = len(r.text) - r.at
	}
	r.at += n
	return n > 0
}
