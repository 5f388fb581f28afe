package shape

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// rules are what the tag of a member says.
type rules struct {
	required, name, table, long, item bool
	length, value, values             *bounds
	enum                              []string
	each, keys                        *rules
	is                                string
}

// bounds are a smallest and a largest value, both allowed.
type bounds struct{ low, high int64 }

// elements returns the rules for the elements of a list or map.
func (r rules) elements() rules {
	if r.each != nil {
		e := *r.each
		e.is = r.is
		return e
	}
	return rules{is: r.is}
}

// parseRules parses a tag. It panics if that is wrong: tags are part of this program.
func parseRules(text string) (r rules) {
	for rule := range strings.SplitSeq(text, ",") {
		name, argument, _ := strings.Cut(rule, "=")
		switch name {
		case "":
		case "required":
			r.required = true
		case "name":
			r.name = true
		case "table":
			r.table, r.name, r.length = true, true, &bounds{3, 255}
		case "item":
			r.item = true
		case "long":
			r.long = true
		case "len":
			r.length = parseBounds(argument)
		case "range":
			r.value = parseBounds(argument)
		case "enum":
			r.enum = strings.Split(argument, "|")
		case "is":
			r.is = argument
		case "values":
			r.values = parseBounds(argument)
		case "each":
			each := parseRules(strings.ReplaceAll(argument, ";", ","))
			r.each = &each
		case "keys":
			keys := parseRules(strings.ReplaceAll(argument, ";", ","))
			r.keys = &keys
		default:
			panic("shape: unknown rule " + rule)
		}
	}
	return r
}

func parseBounds(text string) *bounds {
	low, high, ok := strings.Cut(text, "..")
	b := bounds{math.MinInt64, math.MaxInt64}
	var lowErr, highErr error
	if low != "" {
		b.low, lowErr = strconv.ParseInt(low, 10, 64)
	}
	if high != "" {
		b.high, highErr = strconv.ParseInt(high, 10, 64)
	}
	if !ok || lowErr != nil || highErr != nil {
		panic("shape: bad bounds " + text)
	}
	return &b
}

// field is a member of a struct with its rules.
type field struct {
	name string
	// path is the name in AWS's messages.
	path  string
	typ   reflect.Type
	rules rules
}

var fields sync.Map // []field by reflect.Type

// fieldsOf returns the members of a struct, those of embedded structs included.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && f.IsExported() {
			path := strings.ToLower(f.Name[:1]) + f.Name[1:]
			all = append(all, field{f.Name, path, f.Type, parseRules(f.Tag.Get("rule"))})
		}
	}
	fields.Store(t, all)
	return all
}
