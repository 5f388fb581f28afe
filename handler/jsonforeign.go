package handler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/jsonobject"
)

// check returns what is wrong with content, which was decoded into the pointer: it
// has no member of the type, or it is an envelope that shares some with it. An
// object without members says nothing and is let through.
func (p *payloadType) check(content string, into any) error {
	f, foreign := p.compare(content)
	switch {
	case f != nil:
		return fmt.Errorf("body is %s, want %s: %s", f.name, p.name, f.remedy)
	case foreign:
		return fmt.Errorf("body is a JSON object without any member of %s (%s): "+
			"if the payload is inside of it, let Options.Envelope take it out", p.name, p.listed())
	case p.records != nil && p.withoutRecords(into):
		return fmt.Errorf("body has no Records, want %s with at least one", p.name)
	}
	return nil
}

// explain adds to an error of decoding that content is an envelope, if it is one.
func (p *payloadType) explain(content string, err error) error {
	if f, _ := p.compare(content); f != nil {
		return fmt.Errorf("%w; body is %s: %s", err, f.name, f.remedy)
	}
	return err
}

// compare gives the envelope that content is, nil for none, and tells whether it
// has members, but none of the type. It reads no further than it has to: mostly to
// the second member.
func (p *payloadType) compare(content string) (f *envelopeForm, foreign bool) {
	var some [16]string // as many as envelopes have, so that it needs no allocation
	names, known := some[:0], false
	var records string
	for s := jsonobject.Scan(content); ; {
		name, more := s.Next()
		if !more {
			break
		}
		found, distinct := p.find(name)
		if distinct {
			return nil, false
		}
		known = known || found
		if names = append(names, name); known && len(names) == 2 && !p.suspects(content) {
			return nil, false
		}
		if name == "Records" && !found {
			records = s.Value()
		}
	}
	if f := eventOf(records); f != nil {
		return f, !known
	}
	for _, f := range p.notFor {
		if f.around(names) {
			return f, !known
		}
	}
	return nil, !known && len(names) > 0
}

// suspects reports whether content may be an envelope that has a member in common
// with the type: the name of its most telling member is somewhere in it.
func (p *payloadType) suspects(content string) bool {
	return slices.ContainsFunc(p.alike, func(f *envelopeForm) bool { return strings.Contains(content, f.always[0]) })
}
