package expression_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

func TestUpdates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, update, want string }{
		{"set adds and replaces", `{"a":{"N":"1"}}`, "SET a = :ten, c = :a", `{"a":{"N":"10"},"c":{"S":"a"}}`},
		{"set changes the type", `{"a":{"N":"1"}}`, "SET a = :m", `{"a":{"M":{"k":{"N":"1"}}}}`},
		{"set from a path", `{"a":{"N":"1"}}`, "SET c = a", `{"a":{"N":"1"},"c":{"N":"1"}}`},
		{"set swaps", `{"a":{"N":"1"},"c":{"N":"2"}}`, "SET a = c, c = a", `{"a":{"N":"2"},"c":{"N":"1"}}`},
		{"plus", `{"n":{"N":"1.5"}}`, "SET n = n + :half", `{"n":{"N":"2"}}`},
		{"parentheses", `{"n":{"N":"1"}}`, "SET n = (n + :half)", `{"n":{"N":"1.5"}}`},
		{"parentheses of operands", `{"n":{"N":"1"}}`, "SET n = (n) + (:half)", `{"n":{"N":"1.5"}}`},
		{"parentheses of a path", `{"m":{"M":{"a":{"N":"1"}}}}`, "SET (m).b = (m).a",
			`{"m":{"M":{"a":{"N":"1"},"b":{"N":"1"}}}}`},
		{"minus", `{"n":{"N":"1"}}`, "SET n = :half-n", `{"n":{"N":"-0.5"}}`},
		{"plus of two paths", `{"a":{"N":"1"},"b":{"N":"2"}}`, "SET c = a + b",
			`{"a":{"N":"1"},"b":{"N":"2"},"c":{"N":"3"}}`},
		{"counter of a missing attribute", `{}`, "SET n = if_not_exists(n, :zero) + :one", `{"n":{"N":"1"}}`},
		{"counter", `{"n":{"N":"5"}}`, "SET n = if_not_exists(n, :zero) + :one", `{"n":{"N":"6"}}`},
		{"two defaults", `{}`, "SET n = if_not_exists(n, :one) + if_not_exists(a, :two)", `{"n":{"N":"3"}}`},
		{"default of another path", `{"a":{"N":"1"}}`, "SET n = if_not_exists(n, a)", `{"a":{"N":"1"},"n":{"N":"1"}}`},
		{"default in a default", `{}`, "SET n = if_not_exists(a, if_not_exists(b, :one))", `{"n":{"N":"1"}}`},
		{"append", `{"l":{"L":[{"S":"a"}]}}`, "SET l = list_append(l, :l)", `{"l":{"L":[{"S":"a"},{"S":"c"}]}}`},
		{"prepend", `{"l":{"L":[{"S":"a"}]}}`, "SET l = list_append(:l, l)", `{"l":{"L":[{"S":"c"},{"S":"a"}]}}`},
		{"append, missing list", `{}`, "SET l = list_append(if_not_exists(l, :l), :l)", `{"l":{"L":[{"S":"c"},{"S":"c"}]}}`},
		{"set a member", `{"m":{"M":{"a":{"N":"1"}}}}`, "SET m.b = :two", `{"m":{"M":{"a":{"N":"1"},"b":{"N":"2"}}}}`},
		{"set an element", `{"l":{"L":[{"N":"1"},{"N":"2"}]}}`, "SET l[1] = :ten", `{"l":{"L":[{"N":"1"},{"N":"10"}]}}`},
		{"set beyond the end", `{"l":{"L":[{"N":"1"}]}}`, "SET l[9] = :ten, l[5] = :five",
			`{"l":{"L":[{"N":"1"},{"N":"5"},{"N":"10"}]}}`},
		{"set deep", `{"l":{"L":[{"M":{"m":{"L":[{"N":"1"}]}}}]}}`, "SET l[0].m[0] = :ten, l[0].n = :a",
			`{"l":{"L":[{"M":{"m":{"L":[{"N":"10"}]},"n":{"S":"a"}}}]}}`},
		{"set with names", `{"status":{"S":"x"}}`, "SET #status = :a, #dot = :one", `{"status":{"S":"a"},"a.b":{"N":"1"}}`},
		{"remove", `{"a":{"N":"1"},"b":{"N":"2"}}`, "REMOVE a, absent", `{"b":{"N":"2"}}`},
		{"remove a member", `{"m":{"M":{"a":{"N":"1"},"b":{"N":"2"}}}}`, "REMOVE m.a, m.c", `{"m":{"M":{"b":{"N":"2"}}}}`},
		{"remove elements", `{"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}}`, "REMOVE l[0], l[2], l[9]",
			`{"l":{"L":[{"N":"1"},{"N":"3"}]}}`},
		{"remove and set elements", `{"l":{"L":[{"N":"0"},{"N":"1"}]}}`, "REMOVE l[0] SET l[1] = :ten, l[7] = :five",
			`{"l":{"L":[{"N":"10"},{"N":"5"}]}}`},
		{"add to a missing attribute", `{}`, "ADD n :one", `{"n":{"N":"1"}}`},
		{"add", `{"n":{"N":"9007199254740992"}}`, "ADD n :one", `{"n":{"N":"9007199254740993"}}`},
		{"add in a map", `{"m":{"M":{"n":{"N":"1"}}}}`, "ADD m.n :one", `{"m":{"M":{"n":{"N":"2"}}}}`},
		{"add to a set", `{"ss":{"SS":["x","y"]}}`, "ADD ss :ss", `{"ss":{"SS":["x","y","z"]}}`},
		{"add to a missing set", `{}`, "ADD ss :ss", `{"ss":{"SS":["x","z"]}}`},
		{"delete", `{"ss":{"SS":["x","y"]}}`, "DELETE ss :ss", `{"ss":{"SS":["y"]}}`},
		{"delete the last", `{"a":{"N":"1"},"ss":{"SS":["x"]}}`, "DELETE ss :ss", `{"a":{"N":"1"}}`},
		{"delete from a missing set", `{}`, "DELETE ss :ss", `{}`},
		{"all sections in any order and case", `{"a":{"N":"1"},"ss":{"SS":["x","y"]}}`,
			"delete ss :ss add n :one remove a set c = a", `{"ss":{"SS":["y"]},"n":{"N":"1"},"c":{"N":"1"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := scope(t, c.update)
			u, err := s.Update(&c.update)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			old := item(t, c.old)
			got, err := u.Apply(old)
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, item(t, c.want)) {
				t.Errorf("got %s, want %s", show(t, got), c.want)
			}
			if !same(old, item(t, c.old)) {
				t.Errorf("the old item is %s now", show(t, old))
			}
		})
	}
}

func TestUpdatesThatTheItemDoesNotAllow(t *testing.T) {
	t.Parallel()
	const (
		path    = "The document path provided in the update expression is invalid for update"
		missing = "The provided expression refers to an attribute that does not exist in the item"
		kind    = "An operand in the update expression has an incorrect data type"
	)
	for _, c := range []struct{ old, update, message string }{
		{`{}`, "SET n = n + :one", missing},
		{`{}`, "SET n = a", missing},
		{`{}`, "SET l = list_append(l, :l)", missing},
		{`{"m":{"M":{}}}`, "SET n = m.a", missing},
		{`{}`, "SET m.a = :one", path},
		{`{"m":{"N":"1"}}`, "SET m.a = :one", path},
		{`{"m":{"M":{}}}`, "SET m[0] = :one", path},
		{`{"l":{"L":[]}}`, "SET l.a = :one", path},
		{`{"l":{"L":[]}}`, "SET l[0].a = :one", path},
		{`{}`, "REMOVE m.a", path},
		{`{"ss":{"SS":["a"]}}`, "REMOVE ss[0]", path},
		{`{}`, "ADD m.a :one", path},
		{`{"n":{"S":"1"}}`, "SET n = n + :one", kind},
		{`{"n":{"S":"1"}}`, "SET n = :one - n", kind},
		{`{"l":{"S":"1"}}`, "SET l = list_append(l, :l)", kind},
		{`{"n":{"S":"1"}}`, "ADD n :one", kind},
		{`{"n":{"N":"1"}}`, "ADD n :ss", kind},
		{`{"n":{"NS":["1"]}}`, "ADD n :ss", kind},
		{`{"n":{"NS":["1"]}}`, "ADD n :one", kind},
		{`{"n":{"N":"1"}}`, "DELETE n :ss", kind},
		{`{"n":{"NS":["1"]}}`, "DELETE n :ss", kind},
		{`{"n":{"N":"9E125"}}`, "ADD n :big", "Number overflow"},
		{`{"n":{"N":"1E125"}}`, "SET n = n - :one", "more than 38 significant digits"},
	} {
		u, err := scope(t, c.update).Update(&c.update)
		if err != nil {
			t.Errorf("%s: %v", c.update, err)
			continue
		}
		if _, err = u.Apply(item(t, c.old)); err == nil {
			t.Errorf("%s is done on %s", c.update, c.old)
			continue
		}
		wantInvalid(t, err, c.message)
	}
}

func TestUpdatesThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		syntax   = "Invalid UpdateExpression: Syntax error; token: "
		overlap  = "Two document paths overlap with each other"
		paths    = "; must remove or rewrite one of these paths; path one: "
		operands = "Incorrect operand type for operator or function; "
	)
	for text, message := range map[string]string{
		"":                                         "The expression can not be empty",
		"n = :one":                                 syntax + `"n"`,
		"SET":                                      syntax + `"<EOF>"`,
		"SET n":                                    syntax + `"<EOF>"`,
		"SET n = ":                                 syntax + `"<EOF>"`,
		"SET n = :one,":                            syntax + `"<EOF>"`,
		"SET n = :one, REMOVE a":                   syntax + `"REMOVE"`,
		"SET n = :one AND a = :two":                syntax + `"AND"`,
		"SET n = :one + :two + :five":              syntax + `"+"`,
		"SET n = ((:one + :two))":                  "The expression has redundant parentheses;",
		"SET n < :one":                             syntax + `"<"`,
		"SET :one = n":                             syntax + `":one"`,
		"REMOVE :one":                              syntax + `":one"`,
		"ADD n = :one":                             syntax + `"="`,
		"ADD n n":                                  syntax + `"n"`,
		"PUT n = :one":                             syntax + `"PUT"`,
		"SET n = 1":                                syntax + `"1"`,
		"SET n = :one; REMOVE a":                   syntax + `";"`,
		"SET n = :one SET a = :two":                `The "SET" section can only be used once in an update expression`,
		"REMOVE n REMOVE a":                        `The "REMOVE" section can only be used once`,
		"SET n = :nope":                            "attribute value: :nope",
		"SET #nope = :one":                         "attribute name: #nope",
		"SET status = :one":                        "reserved keyword: status",
		"SET n = status":                           "reserved keyword: status",
		"SET n = :one, n = :two":                   overlap,
		"SET n = :one REMOVE n":                    overlap + paths + "[n], path two: [n]",
		"SET m = :one, m.a = :two":                 overlap + paths + "[m], path two: [m, a]",
		"SET l[0] = :one REMOVE l":                 overlap,
		"SET l[0] = :one ADD l[0] :two":            overlap,
		"SET #n = :one, n = :two":                  overlap,
		"SET m.a = :one, m[0] = :two":              "Two document paths conflict with each other",
		"SET n = :a + :one":                        operands + "operator or function: +, operand type: S",
		"SET n = n - :l":                           operands + "operator or function: -, operand type: L",
		"SET l = list_append(l, :one)":             operands + "operator or function: list_append, operand type: N",
		"ADD n :a":                                 operands + "operator: ADD, operand type: S",
		"ADD n :l":                                 operands + "operator: ADD, operand type: L",
		"DELETE n :one":                            operands + "operator: DELETE, operand type: N",
		"SET l = list_append(l)":                   "Incorrect number of operands for operator or function",
		"SET n = if_not_exists(n)":                 "operator or function: if_not_exists, number of operands: 1",
		"SET n = if_not_exists(:one, n)":           "requires a document path; operator or function: if_not_exists",
		"SET n = if_not_exists(n, :one":            syntax + `"<EOF>"`,
		"SET n = list_append(l, :l":                syntax + `"<EOF>"`,
		"SET n = size(l)":                          "not allowed to be used this way in an expression; function: size",
		"SET n = attribute_exists(l)":              "The function is not allowed to be used this way",
		"SET n = append(l, :l)":                    "Invalid function name; function: append",
		"SET a = :one" + strings.Repeat(" ", 4096): "Expression size has exceeded the maximum allowed size",
	} {
		_, err := scope(t, text).Update(&text)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		wantInvalid(t, err, message)
	}
}

func TestUpdatedSelectsTheChangedParts(t *testing.T) {
	t.Parallel()
	text := "SET m.a = :one, n = :two REMOVE gone ADD l[0] :one DELETE ss :ss"
	u, err := scope(t, text).Update(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m", "n", "gone", "l", "ss"}, u.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	old := `{"m":{"M":{"a":{"N":"0"},"b":{"N":"0"}}},"gone":{"S":"x"},"other":{"S":"x"},"l":{"L":[{"N":"1"},{"N":"2"}]}}`
	want := `{"m":{"M":{"a":{"N":"0"}}},"gone":{"S":"x"},"l":{"L":[{"N":"1"}]}}`
	if got := u.Updated().Of(item(t, old)); !same(got, item(t, want)) {
		t.Errorf("got %s, want %s", show(t, got), want)
	}
}

func TestMissingUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	u, err := scope(t, "").Update(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := u.Apply(item(t, `{"a":{"N":"1"}}`))
	if err != nil || !same(got, item(t, `{"a":{"N":"1"}}`)) {
		t.Errorf("got %s, %v", show(t, got), err)
	}
	if got := u.Updated().Of(item(t, `{"a":{"N":"1"}}`)); len(got) != 0 {
		t.Errorf("updated: %s", show(t, got))
	}
}

// If ADD adds elements that were not in a set, DELETE of the same elements
// restores the set.
func TestAddAndDeleteAreInverse(t *testing.T) {
	t.Parallel()
	members := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]`), 1, 6, rapid.ID[string])
	set := func(members []string) attribute.Set {
		var vs []attribute.Value
		for _, m := range members {
			vs = append(vs, attribute.String(m))
		}
		return attribute.NewSet(attribute.TypeString, vs...)
	}
	rapid.Check(t, func(t *rapid.T) {
		old, more := set(members.Draw(t, "old")), set(members.Draw(t, "more"))
		both := old.Union(more)
		if back := both.Minus(more.Minus(old)); !attribute.Equal(back, old) {
			t.Fatalf("%v and %v: back is %v", old, more, back)
		}
	})
}
