package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// reason returns the result of matching a body against the patterns.
func reason(t *testing.T, body string, patterns ...string) filter.Reason {
	t.Helper()
	c, err := filter.Parse(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return c.Match(body)
}

// TestRulesOfTheLambdaGuide has a matching and a non-matching case for each row
// of the guide's table of filter rules, and for its examples with SQS.
func TestRulesOfTheLambdaGuide(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ pattern, matches, differs string }{
		"null":  {`{"body":{"UserID":[null]}}`, `{"UserID":null}`, `{"UserID":"null"}`},
		"empty": {`{"body":{"LastName":[""]}}`, `{"LastName":""}`, `{"LastName":null}`},
		"equals": {
			`{"body":{"Name":["Alice"]}}`, `{"Name":"Alice"}`, `{"Name":"alice"}`},
		"equals, ignoring case": {
			`{"body":{"Name":[{"equals-ignore-case":"alice"}]}}`, `{"Name":"ALIce"}`, `{"Name":"Alicia"}`},
		"and": {
			`{"body":{"Location":["New York"],"Day":["Monday"]}}`,
			`{"Day":"Monday","Location":"New York"}`, `{"Day":"Tuesday","Location":"New York"}`},
		"or": {
			`{"body":{"PaymentType":["Credit","Debit"]}}`, `{"PaymentType":"Debit"}`, `{"PaymentType":"Cash"}`},
		"or over several fields": {
			`{"body":{"$or":[{"Location":["New York"]},{"Day":["Monday"]}]}}`,
			`{"Location":"Rome","Day":"Monday"}`, `{"Location":"Rome","Day":"Friday"}`},
		"or with a field beside it": {
			`{"body":{"Kind":["order"],"$or":[{"Location":["New York"]},{"Day":["Monday"]}]}}`,
			`{"Kind":"order","Day":"Monday"}`, `{"Kind":"refund","Day":"Monday"}`},
		"not": {
			`{"body":{"Weather":[{"anything-but":["Raining"]}]}}`, `{"Weather":"Sunny"}`, `{"Weather":"Raining"}`},
		"not, and not there": {
			`{"body":{"Weather":[{"anything-but":["Raining"]}]}}`, `{"Weather":null}`, `{"Wind":"strong"}`},
		"numeric equals": {
			`{"body":{"Price":[{"numeric":["=",100]}]}}`, `{"Price":100.0}`, `{"Price":"100"}`},
		"numeric range": {
			`{"body":{"Price":[{"numeric":[">",10,"<=",20]}]}}`, `{"Price":20}`, `{"Price":10}`},
		"exists": {
			`{"body":{"ProductName":[{"exists":true}]}}`, `{"ProductName":null}`, `{"Product":"x"}`},
		"does not exist": {
			`{"body":{"ProductName":[{"exists":false}]}}`, `{"Product":"x"}`, `{"ProductName":null}`},
		"begins with": {
			`{"body":{"Region":[{"prefix":"us-"}]}}`, `{"Region":"us-east-1"}`, `{"Region":"eu-us-1"}`},
		"ends with": {
			`{"body":{"FileName":[{"suffix":".png"}]}}`, `{"FileName":"a.png"}`, `{"FileName":"a.png.gz"}`},
		"member of a member": {
			`{"body":{"Data":{"City":["Seattle"]}}}`, `{"Data":{"City":"Seattle"}}`, `{"City":"Seattle"}`},
		"code of a request": {
			`{ "body" : { "RequestCode" : [ "BBBB" ] } }`,
			`{"RecordNumber":1234,"RequestCode":"BBBB"}`, `{"RecordNumber":1234,"RequestCode":"AAAA"}`},
		"number of a record": {
			`{"body":{"RecordNumber":[{"numeric":[">",9999]}]}}`, `{"RecordNumber":10000}`, `{"RecordNumber":9999}`},
		"plain text": {
			`{"body":[{"prefix":"Result: "}]}`, `Result: good`, `No Result: `},
		"one of two texts": {
			`{"body":["start","stop"]}`, `stop`, `stop `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reason(t, test.matches, test.pattern); got != filter.Matched {
				t.Errorf("%s: %s on %s", test.pattern, got, test.matches)
			}
			if got := reason(t, test.differs, test.pattern); got != filter.Unmatched {
				t.Errorf("%s: %q on %s, want %s", test.pattern, got, test.differs, filter.Unmatched)
			}
		})
	}
}

func TestFormatsOfBodyAndPattern(t *testing.T) {
	t.Parallel()
	const object, text = `{"body":{"kind":["order"]}}`, `{"body":[{"prefix":""}]}`
	tests := []struct {
		name, body string
		patterns   []string
		want       filter.Reason
	}{
		{"JSON for JSON", `{"kind":"order"}`, []string{object}, filter.Matched},
		{"JSON with space around it", "\n {\"kind\":\"order\"} ", []string{object}, filter.Matched},
		{"a list of objects", `[{"kind":"x"},{"kind":"order"}]`, []string{object}, filter.Matched},
		{"text for JSON", `kind=order`, []string{object}, filter.WantsJSON},
		{"broken JSON for JSON", `{"kind":"order"`, []string{object}, filter.WantsJSON},
		{"two values for JSON", `{"kind":"order"}{}`, []string{object}, filter.WantsJSON},
		{"empty for JSON", ``, []string{object}, filter.WantsJSON},
		{"a number for JSON", `300`, []string{object}, filter.WantsJSON},
		{"text for text", `kind=order`, []string{text}, filter.Matched},
		{"a number for text", `300`, []string{text}, filter.Matched},
		{"broken JSON for text", `{"kind":`, []string{text}, filter.Matched},
		{"JSON for text", `{"kind":"order"}`, []string{text}, filter.WantsText},
		{"a list for text", `["order"]`, []string{`{"body":["order"]}`}, filter.WantsText},
		{"second pattern", `kind=order`, []string{object, text}, filter.Matched},
		{"no pattern of two", `{"kind":"refund"}`, []string{text, object}, filter.Unmatched},
		{"either format", `kind=order`, []string{`{"$or":[{"body":{"kind":["order"]}},{"body":["kind=order"]}]}`},
			filter.Matched},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := reason(t, test.body, test.patterns...); got != test.want {
				t.Errorf("%q on %s, want %q", got, test.body, test.want)
			}
		})
	}
}

func TestPatternsThatLambdaRefusesAreRefused(t *testing.T) {
	t.Parallel()
	body := func(rules string) string { return `{"body":{"a":` + rules + `}}` }
	tests := map[string]struct{ pattern, want string }{
		"empty text": {``, `filter pattern: not JSON: write an object such as {"body":{"type":["order"]}}`},
		"cut off":    {`{"body":`, `filter pattern: not JSON`},
		"a list":     {`[]`, `filter pattern: not an object`},
		"null":       {`null`, `filter pattern: not an object`},
		"nothing":    {`{}`, `filter pattern: an empty object matches nothing: name a member`},
		"empty body": {`{"body":{}}`, `filter pattern: body: an empty object matches nothing`},
		"attributes": {`{"messageAttributes":{"a":["b"]}}`,
			`filter pattern: "messageAttributes" cannot be filtered: on SQS it is the body alone, as in {"body":…}`},
		"attributes in $or": {`{"$or":[{"body":["a"]},{"attributes":["b"]}]}`, `"attributes" cannot be filtered`},
		"value alone":       {`{"body":"a"}`, `body: "a" stands alone: write a list, as in ["a"]`},
		"value in it alone": {body(`3`), `body.a: 3 stands alone: write a list, as in [3]`},
		"empty list":        {body(`[]`), `body.a: an empty list matches nothing: write a value or a rule`},
		"list in a list":    {body(`[["b"]]`), `body.a: a list within the list of rules: write its values side by side`},
		"name of two lines": {`{"body":{"a\nb":3}}`, `body.a\nb: 3 stands alone`},
		"unknown rule": {body(`[{"contains":"b"}]`), `body.a: no rule "contains": there are anything-but, ` +
			`equals-ignore-case, exists, numeric, prefix, suffix, wildcard`},
		"two operators":       {body(`[{"prefix":"b","suffix":"c"}]`), `a rule has one operator, not 2`},
		"no operator":         {body(`[{}]`), `a rule has one operator, not 0`},
		"prefix of a number":  {body(`[{"prefix":1}]`), `body.a: prefix takes a text`},
		"prefix of an object": {body(`[{"prefix":{"suffix":"b"}}]`), `body.a: prefix takes a text`},
		"suffix of a list":    {body(`[{"suffix":["b"]}]`), `body.a: suffix takes a text`},
		"case of a number":    {body(`[{"equals-ignore-case":1}]`), `equals-ignore-case takes a text`},
		"exists of a text":    {body(`[{"exists":"true"}]`), `exists takes true or false`},
		"numeric of a number": {body(`[{"numeric":1}]`), `numeric takes one or two comparisons, as in [">",0,"<=",5]`},
		"three of numeric":    {body(`[{"numeric":[">",1,"<"]}]`), `numeric takes one or two comparisons`},
		"unknown comparison":  {body(`[{"numeric":["!=",1]}]`), `numeric: no comparison "!=": use =, <, <=, > or >=`},
		"text as limit":       {body(`[{"numeric":[">","1"]}]`), `numeric: what follows > is not a number`},
		"limit too large":     {body(`[{"numeric":["<",5000000001]}]`), `numeric: 5000000001 is outside of -5e9 to 5e9`},
		"upper bound first":   {body(`[{"numeric":["<",5,">",1]}]`), `numeric: a range is a > or >= and then a < or <=`},
		"empty range":         {body(`[{"numeric":[">",5,"<",5]}]`), `numeric: nothing lies above 5 and below 5`},
		"anything but none":   {body(`[{"anything-but":[]}]`), `anything-but takes a value or a list of values`},
		"anything but mixed":  {body(`[{"anything-but":["b",1]}]`), `anything-but takes texts only or numbers only`},
		"anything but null":   {body(`[{"anything-but":null}]`), `anything-but takes texts only or numbers only`},
		"anything but a range": {body(`[{"anything-but":{"numeric":["=",1]}}]`),
			`anything-but takes values, or one of equals-ignore-case, prefix, suffix, wildcard`},
		"anything but a wrong prefix": {body(`[{"anything-but":{"prefix":[1]}}]`), `anything-but: prefix takes a text`},
		"two stars":                   {body(`[{"wildcard":"a**"}]`), `wildcard: two * in a row: write one`},
		"lone backslash":              {body(`[{"wildcard":"a\\b"}]`), `wildcard: a backslash stands before * or \ only`},
		"wildcard of a number":        {body(`[{"wildcard":1}]`), `wildcard takes a text`},
		"$or of one":                  {`{"body":{"$or":[{"a":["b"]}]}}`, `body: $or takes a list of two or more objects`},
		"$or of texts":                {`{"$or":["a","b"]}`, `filter pattern: $or takes a list of two or more objects`},
		"too long": {body(`["` + strings.Repeat("€", 4096) + `"]`),
			`4115 characters: Lambda takes at most 4096`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := filter.Parse(test.pattern)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v\n want %s", err, test.want)
			}
		})
	}
}

func TestOneToFivePatternsAreAccepted(t *testing.T) {
	t.Parallel()
	const good = `{"body":["a"]}`
	tests := []struct {
		patterns []string
		want     string
	}{
		{nil, "filter criteria without a pattern: write one, or leave the criteria out"},
		{[]string{good, good, good, good, good, good}, "6 filter patterns: Lambda takes at most 5"},
		{[]string{good, `{}`}, "filter pattern 1: an empty object matches nothing: name a member"},
		{[]string{good, good, good, good, good}, "<nil>"},
	}
	for _, test := range tests {
		if _, err := filter.Parse(test.patterns...); fmt.Sprint(err) != test.want {
			t.Errorf("%d patterns: error %v, want %s", len(test.patterns), err, test.want)
		}
	}
}
