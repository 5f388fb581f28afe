package filter_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

func TestRulesAcceptMatchingValues(t *testing.T) {
	t.Parallel()
	// Each rule is for the member a; the values are values of a.
	tests := map[string]struct {
		rules         string
		match, differ []string
	}{
		"numbers as they are written": {`[300]`, []string{`300`}, []string{`300.0`, `3.0e2`, `"300"`}},
		"booleans":                    {`[true]`, []string{`true`}, []string{`false`, `"true"`, `1`}},
		"several rules": {`["x",{"prefix":"b"},{"numeric":["<",0]}]`,
			[]string{`"x"`, `"by"`, `-1`}, []string{`"c"`, `1`, `null`}},
		"one of a list": {`["x"]`, []string{`["y","x"]`, `[["x"],"y"]`}, []string{`["y"]`, `[]`, `{"x":"x"}`}},
		"prefix ignoring case": {`[{"prefix":{"equals-ignore-case":"US-"}}]`,
			[]string{`"us-east-1"`, `"Us-"`}, []string{`"us"`, `"eus-"`}},
		"suffix ignoring case": {`[{"suffix":{"equals-ignore-case":".Png"}}]`,
			[]string{`"a.pnG"`}, []string{`"a.png "`, `null`}},
		"anything but texts": {`[{"anything-but":["x","y"]}]`,
			[]string{`"z"`, `1`, `null`, `["x","z"]`}, []string{`"x"`, `"y"`, `["x","y"]`, `{"b":1}`}},
		"anything but a text":   {`[{"anything-but":"x"}]`, []string{`"X"`}, []string{`"x"`}},
		"anything but numbers":  {`[{"anything-but":[1,2]}]`, []string{`3`, `"1"`, `1.0`}, []string{`1`, `2`}},
		"anything but a prefix": {`[{"anything-but":{"prefix":"x"}}]`, []string{`"yx"`, `1`}, []string{`"x"`, `"xy"`}},
		"anything but suffixes": {`[{"anything-but":{"suffix":[".a",".b"]}}]`,
			[]string{`"x.c"`}, []string{`"x.a"`, `"x.b"`}},
		"anything but in any case": {`[{"anything-but":{"equals-ignore-case":["x"]}}]`, []string{`"y"`}, []string{`"X"`}},
		"anything but a wildcard":  {`[{"anything-but":{"wildcard":"x*z"}}]`, []string{`"xy"`}, []string{`"xyz"`}},
		"numeric bounds": {`[{"numeric":[">=",1,"<",2]}]`,
			[]string{`1`, `1.999999`, `1e0`}, []string{`2`, `0.99`, `"1"`, `true`, `null`}},
		"numbers out of reach": {`[{"numeric":[">",0]}]`, []string{`5e9`}, []string{`5000000001`, `1e999`, `-6e9`}},
		"exists":               {`[{"exists":true}]`, []string{`null`, `0`, `[1]`}, []string{`{}`, `[]`, `{"b":1}`}},
		"absent":               {`[{"exists":false}]`, []string{`{"b":1}`, `[]`}, []string{`null`, `0`}},
		"absent or small":      {`[{"exists":false},{"numeric":["<",3]}]`, []string{`2`, `{}`}, []string{`3`}},
		"wildcard":             {`[{"wildcard":"a*c"}]`, []string{`"ac"`, `"abc"`, `"acbc"`}, []string{`"abcd"`, `"a"`, `1`}},
		"wildcards":            {`[{"wildcard":"*ab*ba*"}]`, []string{`"abba"`, `"xabxbax"`}, []string{`"aba"`, `"ba ab"`}},
		"wildcard of a star":   {`[{"wildcard":"a\\**"}]`, []string{`"a*"`, `"a*b"`}, []string{`"ab"`}},
		"wildcard of a slash":  {`[{"wildcard":"a\\\\"}]`, []string{`"a\\"`}, []string{`"a"`}},
		"star alone":           {`[{"wildcard":"*"}]`, []string{`""`, `"x"`}, []string{`null`}},
		"ends may not overlap": {`[{"wildcard":"ab*ba"}]`, []string{`"abba"`}, []string{`"aba"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pattern := `{"body":{"a":` + test.rules + `}}`
			for _, value := range test.match {
				if got := reason(t, `{"a":`+value+`}`, pattern); got != filter.Matched {
					t.Errorf("%s does not match %s", value, test.rules)
				}
			}
			for _, value := range test.differ {
				if got := reason(t, `{"a":`+value+`}`, pattern); got == filter.Matched {
					t.Errorf("%s matches %s", value, test.rules)
				}
			}
		})
	}
}

// If the value is a list of objects, one object must match the whole pattern.
const (
	both  = `{"body":{"items":{"kind":["book"],"price":[10]}}}`
	lacks = `{"body":{"items":{"gift":[{"exists":false}]}}}`
)

// TestOneObjectOfAListMatchesTheWholePattern checks that everything a pattern requires of one object
// must be in the same object, but that a member exists if any object has it.
func TestOneObjectOfAListMatchesTheWholePattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, body string
		want          filter.Reason
	}{
		{both, `{"items":[{"kind":"pen","price":1},{"kind":"book","price":10}]}`, filter.Matched},
		{both, `{"items":[{"kind":"book","price":1},{"kind":"pen","price":10}]}`, filter.Unmatched},
		{both, `{"items":[[{"kind":"book","price":10}]]}`, filter.Matched},
		{both, `{"items":[]}`, filter.Unmatched},
		{both, `{"items":["book",10]}`, filter.Unmatched},
		{lacks, `{"items":[{"kind":"pen"},{"gift":true}]}`, filter.Unmatched},
		{lacks, `{"items":[{"kind":"pen"}]}`, filter.Matched},
		{lacks, `{"items":[]}`, filter.Matched},
		{lacks, `{}`, filter.Matched},
	}
	for _, test := range tests {
		if got := reason(t, test.body, test.pattern); got != test.want {
			t.Errorf("%q on %s, want %q", got, test.body, test.want)
		}
	}
}
