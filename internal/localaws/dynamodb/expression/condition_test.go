package expression_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const conditionItem = `{
	"n":{"N":"10"}, "s":{"S":"hello"}, "b":{"B":"AQI="}, "yes":{"BOOL":true}, "nothing":{"NULL":true},
	"ss":{"SS":["x","y"]}, "l":{"L":[{"S":"a"},{"M":{"deep":{"N":"5"}}}]}, "status":{"S":"he"},
	"m":{"M":{"in":{"N":"5"},"l":{"L":[{"N":"1"},{"L":[{"S":"a"}]}]}}}, "a.b":{"N":"1"}, "a":{"M":{"b":{"N":"2"}}},
	"in_progress":{"N":"10.0"}
}`

func TestConditions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		// Comparators.
		"n = :ten":         true,
		"n = :ten0":        true,
		"n <> :ten0":       false,
		"n < :ten":         false,
		"n <= :ten":        true,
		"n > :five":        true,
		"n >= :ten0":       true,
		":five < n":        true,
		"n=:ten":           true,
		"n\t=\r\n:ten":     true,
		"n = in_progress":  true,
		"s = :ten":         false,
		"s <> :ten":        true,
		"s < :ten":         false,
		"s >= :he":         true,
		"b > :b":           true,
		"yes = :true":      true,
		"nothing = :null":  true,
		"n < :big":         true,
		"absent = :ten":    false,
		"absent <> :ten":   true,
		"absent < :ten":    false,
		"absent = lacking": false,
		":one = :one":      true,

		// BETWEEN and IN.
		"n BETWEEN :five AND :ten":                  true,
		"n between :ten AND :ten":                   true,
		"n BETWEEN :one AND :five":                  false,
		"s BETWEEN :he AND s":                       true,
		"absent BETWEEN :one AND :ten":              false,
		"n BETWEEN :five AND :ten AND s = :hello":   true,
		"NOT n BETWEEN :one AND :five":              true,
		"n IN (:one, :ten0)":                        true,
		"n in (:one)":                               false,
		"s IN (:one, :hello, n)":                    true,
		"absent IN (:one)":                          false,
		"n IN (:one) OR n IN (:two, :five, :ten)":   true,
		"size(ss) IN (:one, :two)":                  true,
		"size(s) BETWEEN :one AND :five":            true,
		"n BETWEEN size(l) AND :ten AND n = :ten":   true,
		"n BETWEEN :five AND :ten OR absent = :one": true,

		// Precedence.
		"n = :one OR n = :two AND n = :ten":         false,
		"n = :ten OR n = :two AND n = :one":         true,
		"(n = :ten OR n = :two) AND n = :one":       false,
		"NOT n = :ten":                              false,
		"NOT n = :one AND n = :ten":                 true,
		"NOT n = :one OR n = :one":                  true,
		"NOT (n = :one OR n = :ten)":                false,
		"NOT NOT n = :ten":                          true,
		"not n = :one and n = :ten or n = :one":     true,
		"(n = :ten)":                                true,
		"(n = :one) OR ((n = :ten) AND s = :hello)": true,
		"((n = :ten) AND (s = :hello))":             true,

		// Functions.
		"attribute_exists(n)":                   true,
		"(n) = (:ten)":                          true,
		"(n) BETWEEN (:one) AND (:ten)":         true,
		"(m).l[0] = :ten OR (n = :ten)":         true,
		"n IN ((:one), (:ten))":                 true,
		"attribute_exists(absent)":              false,
		"attribute_exists(m.l[1][0])":           true,
		"attribute_not_exists(m.l[1][1])":       true,
		"attribute_not_exists(n)":               false,
		"attribute_not_exists (absent)":         true,
		"attribute_type(n, :N)":                 true,
		"attribute_type(m, :M)":                 true,
		"attribute_type(s, :N)":                 false,
		"attribute_type(absent, :S)":            false,
		"begins_with(s, :he)":                   true,
		"begins_with(s, #status)":               true,
		"begins_with(s, :x)":                    false,
		"begins_with(n, :he)":                   false,
		"begins_with(absent, :he)":              false,
		"contains(s, :he)":                      true,
		"contains(ss, :x)":                      true,
		"contains(ss, :he)":                     false,
		"contains(l, :a)":                       true,
		"contains(:hello, #status)":             true,
		"contains(absent, :a)":                  false,
		"size(s) = :five":                       true,
		"size(l) = :two":                        true,
		"size(b) < :five":                       true,
		"size(ss) > size(m.l[1])":               true,
		"size(n) = :two":                        false,
		"size(absent) = :zero":                  false,
		"size(s) = size(:hello)":                true,
		"NOT contains(ss, :he) AND n = :ten":    true,
		"attribute_exists(n) AND NOT n = :five": true,

		// Paths.
		"m.#in = :five":          true,
		"#m.#in = :five":         true,
		"l[0] = :a":              true,
		"l[1].deep = :five":      true,
		"m.l[1][0] = :a":         true,
		"l[2] = :a":              false,
		"l.deep = :five":         false,
		"m[0] = :five":           false,
		"n.deep = :ten":          false,
		"#dot = :one":            true,
		"a.b = :two":             true,
		"#status = :he":          true,
		"in_progress = :ten":     true,
		"l [ 0 ] = :a":           true,
		"attribute_exists(s[0])": false,
	} {
		s := scope(t, text)
		c, err := s.Condition("ConditionExpression", &text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := c.Match(item(t, conditionItem)); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestConditionsOnAnItemThatDoesNotExist(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"attribute_not_exists(n)":             true,
		"attribute_exists(n)":                 false,
		"n = :one":                            false,
		"n <> :one":                           true,
		"NOT n = :one":                        true,
		"attribute_not_exists(m.l[0].deep)":   true,
		"attribute_not_exists(n) OR n < :one": true,
	} {
		c, err := scope(t, text).Condition("ConditionExpression", &text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := c.Match(nil); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestMissingConditionIsTrue(t *testing.T) {
	t.Parallel()
	s := scope(t, "")
	c, err := s.Condition("ConditionExpression", nil)
	if err != nil || !c.Match(nil) || c.Names() != nil {
		t.Errorf("condition of no text: %v, %v", c, err)
	}
}

func TestConditionsThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		syntax   = "Invalid ConditionExpression: Syntax error; token: "
		operands = "Incorrect operand type for operator or function; operator or function: "
		number   = "Incorrect number of operands for operator or function; operator or function: "
		reserved = "Attribute name is a reserved keyword; reserved keyword: "
		path     = "Operator or function requires a document path; operator or function: "
		distinct = "The first operand must be distinct from the remaining operands"

		noValue   = "An expression attribute value used in expression is not defined; attribute value: "
		noName    = "An expression attribute name used in the document path is not defined; attribute name: "
		misplaced = "The function is not allowed to be used this way in an expression; function: "
	)
	for text, message := range map[string]string{
		"":                                 "The expression can not be empty",
		" \t":                              "The expression can not be empty",
		"n":                                syntax + `"<EOF>", near: "n"`,
		"n =":                              syntax + `"<EOF>"`,
		"n = :ten AND":                     syntax + `"<EOF>"`,
		"attribute_exists(id) AND OR":      syntax + `"OR", near: "AND OR"`,
		"= :ten":                           syntax + `"="`,
		"n == :ten":                        syntax + `"="`,
		"n != :ten":                        syntax + `"!"`,
		"n = :ten s = :he":                 syntax + `"s"`,
		"(n = :ten":                        syntax + `"<EOF>"`,
		"n = :ten)":                        syntax + `")"`,
		"()":                               syntax + `")"`,
		"n = 5":                            syntax + `"5"`,
		`n = "x"`:                          syntax + `"""`,
		"n = é":                            syntax + `"é"`,
		"_n = :ten":                        syntax + `"_"`,
		"n. = :ten":                        syntax + `"="`,
		"l[] = :ten":                       syntax + `"]"`,
		"l[-1] = :ten":                     syntax + `"-"`,
		"l[x] = :ten":                      syntax + `"x"`,
		"l[99999999999999999999] = :ten":   syntax + `"99999999999999999999"`,
		"l[0 = :ten":                       syntax + `"="`,
		"[0] = :ten":                       syntax + `"["`,
		"# = :ten":                         syntax + `"#"`,
		"n = :":                            syntax + `":"`,
		"n BETWEEN :one":                   syntax + `"<EOF>"`,
		"n BETWEEN :one OR :ten":           syntax + `"OR"`,
		"n IN :one":                        syntax + `":one"`,
		"n IN ()":                          syntax + `")"`,
		"n IN (:one,)":                     syntax + `")"`,
		"n IN (:one":                       syntax + `"<EOF>"`,
		"NOT":                              syntax + `"<EOF>"`,
		"attribute_exists(n) = :ten":       misplaced + "attribute_exists",
		"size(l)":                          "used this way in an expression; function: size",
		"((n = :ten))":                     "The expression has redundant parentheses",
		"status = :he":                     reserved + "status",
		"m.in = :five":                     syntax + `"in"`,
		"m.Name = :five":                   reserved + "Name",
		"attribute_exists(status)":         reserved + "status",
		"n = :nope":                        noValue + ":nope",
		"#nope = :ten":                     noName + "#nope",
		"#empty = :ten":                    "ExpressionAttributeNames contains invalid value",
		"exists(n)":                        "Invalid function name; function: exists",
		"ATTRIBUTE_EXISTS(n)":              "Invalid function name; function: ATTRIBUTE_EXISTS",
		"if_not_exists(n, :ten)":           misplaced + "if_not_exists",
		"n = attribute_exists(n)":          misplaced + "attribute_exists",
		"size(size(s)) = :two":             "operator or function: size, operand type: N",
		"size(size(l)) > contains(n, :he)": "not allowed to be used this way",
		"attribute_exists(:ten)":           path + "attribute_exists",
		"attribute_not_exists(size(n))":    path + "attribute_not_exists",
		"attribute_exists(n, s)":           number + "attribute_exists, number of operands: 2",
		"begins_with(s)":                   number + "begins_with, number of operands: 1",
		"size(l, n) = :ten":                number + "size, number of operands: 2",
		"attribute_type(n, :ten)":          operands + "attribute_type, operand type: N",
		"attribute_type(n, s)":             operands + "attribute_type",
		"attribute_type(n, :X)":            "Invalid attribute type name found; type: X",
		"begins_with(s, :ten)":             operands + "begins_with, operand type: N",
		"begins_with(:ss, s)":              operands + "begins_with, operand type: SS",
		"size(:ten) = :ten":                operands + "size, operand type: N",
		"n < :true":                        operands + "<, operand type: BOOL",
		":ss >= n":                         operands + ">=, operand type: SS",
		"n BETWEEN :one AND :null":         operands + "BETWEEN, operand type: NULL",
		"n BETWEEN :ten AND :one":          "requires upper bound to be greater than or equal to lower bound",
		"n BETWEEN :one AND :he":           "requires same data type for lower and upper bounds",
		"n = n":                            distinct,
		"begins_with(s, s)":                distinct,
		"size(l) > size(l)":                distinct,
		"n = :ten AND " + strings.Repeat("n = :ten OR ", 200) + "n = :ten":        "too many operators",
		strings.Repeat(" ", 4090) + "n = :ten":                                    "Expression size has exceeded the maximum",
		"n IN (" + strings.Repeat(":ten, ", 100) + ":ten)":                        "Too many operands for the IN operator",
		strings.Repeat("(", 2000) + "n = :ten" + strings.Repeat(")", 2000):        "redundant parentheses",
		strings.Repeat("(", 4000):                                                 syntax,
		strings.Repeat("NOT ", 301) + "n = :ten":                                  "too many operators",
		"attribute_exists(" + strings.Repeat("n.", 1000) + ")":                    syntax + `")"`,
		"n = :ten AND (n = :five OR NOT (n = :one AND attribute_exists(status)))": reserved + "status",
		"contains(s)":                  number + "contains",
		"n IN (:ten) AND s BETWEEN :a": syntax + `"<EOF>"`,
		"attribute_exists n":           syntax + `"n"`,
		"attribute_not_exists(n) :ten": syntax + `":ten"`,
		"SET n = :ten":                 syntax + `"SET"`,
		"n = :ten; n = :one":           syntax + `";"`,
	} {
		_, err := scope(t, text).Condition("ConditionExpression", &text)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		wantInvalid(t, err, message)
	}
}

func TestConditionNames(t *testing.T) {
	t.Parallel()
	text := "NOT (n = :one OR size(l) > :two) AND m.#in IN (:ten, s) AND attribute_exists(#dot) " +
		"AND b BETWEEN :one AND :two"
	c, err := scope(t, text).Condition("FilterExpression", &text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"n", "l", "m", "s", "a.b", "b"}, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestAnExpressionHasUpTo300Operators(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("NOT ", 299) + "n = :ten"
	if _, err := scope(t, text).Condition("ConditionExpression", &text); err != nil {
		t.Error(err)
	}
	text = "NOT " + text
	_, err := scope(t, text).Condition("ConditionExpression", &text)
	wantInvalid(t, err, "too many operators; operator count: 301, maximum: 300")
}
