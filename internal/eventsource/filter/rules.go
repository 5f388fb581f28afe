package filter

import (
	"encoding/json"
	"slices"
	"strings"
)

// exact compares values by their text: 300 and 300.0 differ.
type exact struct{ value any }

func (r exact) accepts(v any) bool { return v == r.value }

type prefix struct {
	text string
	fold bool
}

func (r prefix) accepts(v any) bool {
	text, ok := v.(string)
	if !r.fold {
		return ok && strings.HasPrefix(text, r.text)
	}
	return ok && strings.HasPrefix(strings.ToLower(text), strings.ToLower(r.text))
}

type suffix struct {
	text string
	fold bool
}

func (r suffix) accepts(v any) bool {
	text, ok := v.(string)
	if !r.fold {
		return ok && strings.HasSuffix(text, r.text)
	}
	return ok && strings.HasSuffix(strings.ToLower(text), strings.ToLower(r.text))
}

type fold struct{ text string }

func (r fold) accepts(v any) bool {
	text, ok := v.(string)
	return ok && strings.EqualFold(text, r.text)
}

// anythingBut accepts values that none of its rules accepts.
type anythingBut struct{ rules []rule }

func (r anythingBut) accepts(v any) bool {
	return !slices.ContainsFunc(r.rules, func(inner rule) bool { return inner.accepts(v) })
}

// exists tests whether a member exists. The evaluation handles a missing
// member: accepts is only called with values that exist.
type exists struct{ wanted bool }

func (r exists) accepts(any) bool { return r.wanted }

// numeric accepts JSON numbers that are within all its bounds.
type numeric struct{ bounds []bound }

type bound struct {
	operator string
	limit    float64
}

// maxNumber is the greatest number that EventBridge compares; the least is its
// negative.
const maxNumber = 5e9

func (r numeric) accepts(v any) bool {
	text, ok := v.(json.Number)
	if !ok {
		return false
	}
	n, err := text.Float64()
	if err != nil || n < -maxNumber || n > maxNumber {
		return false
	}
	return !slices.ContainsFunc(r.bounds, func(b bound) bool { return !b.holds(n) })
}

func (b bound) holds(n float64) bool {
	switch b.operator {
	case "<":
		return n < b.limit
	case "<=":
		return n <= b.limit
	case ">":
		return n > b.limit
	case ">=":
		return n >= b.limit
	}
	return n == b.limit
}
