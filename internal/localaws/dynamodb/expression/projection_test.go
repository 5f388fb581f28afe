package expression_test

import "testing"

func TestProjections(t *testing.T) {
	t.Parallel()
	const all = `{"a":{"N":"1"},"m":{"M":{"x":{"N":"1"},"y":{"M":{"z":{"N":"2"}}}}},
		"l":{"L":[{"N":"0"},{"M":{"k":{"N":"1"},"j":{"N":"2"}}},{"N":"2"}]},"status":{"S":"s"}}`
	for text, want := range map[string]string{
		"a":             `{"a":{"N":"1"}}`,
		"a, #status":    `{"a":{"N":"1"},"status":{"S":"s"}}`,
		"absent":        `{}`,
		"a.b":           `{}`,
		"m.x":           `{"m":{"M":{"x":{"N":"1"}}}}`,
		"m.y.z, m.x":    `{"m":{"M":{"x":{"N":"1"},"y":{"M":{"z":{"N":"2"}}}}}}`,
		"m.y.absent, a": `{"a":{"N":"1"}}`,
		"l[2], l[0]":    `{"l":{"L":[{"N":"0"},{"N":"2"}]}}`,
		"l[1].j":        `{"l":{"L":[{"M":{"j":{"N":"2"}}}]}}`,
		"l[9]":          `{}`,
		"m[0]":          `{}`,
		"l.a":           `{}`,
		"#m.y, l[1], a": `{"a":{"N":"1"},"m":{"M":{"y":{"M":{"z":{"N":"2"}}}}},
			"l":{"L":[{"M":{"k":{"N":"1"},"j":{"N":"2"}}}]}}`,
		"l[1].k, l[1].j": `{"l":{"L":[{"M":{"k":{"N":"1"},"j":{"N":"2"}}}]}}`,
	} {
		p, err := scope(t, text).Projection(&text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := p.Of(item(t, all)); !same(got, item(t, want)) {
			t.Errorf("%s gives %s, want %s", text, show(t, got), want)
		}
	}
}

func TestProjectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, message := range map[string]string{
		"":          "Invalid ProjectionExpression: The expression can not be empty",
		"a,":        `Invalid ProjectionExpression: Syntax error; token: "<EOF>"`,
		"a b":       `Syntax error; token: "b"`,
		":one":      `Syntax error; token: ":one"`,
		"size(a)":   `Syntax error; token: "("`,
		"status":    "reserved keyword: status",
		"a, a":      "Two document paths overlap",
		"m, m.x":    "Two document paths overlap",
		"m.x, m[0]": "Two document paths conflict",
		"#nope":     "attribute name: #nope",
	} {
		_, err := scope(t, text).Projection(&text)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		wantInvalid(t, err, message)
	}
}

func TestMissingProjectionSelectsTheWholeItem(t *testing.T) {
	t.Parallel()
	p, err := scope(t, "").Projection(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Of(item(t, `{"a":{"N":"1"}}`)); !same(got, item(t, `{"a":{"N":"1"}}`)) {
		t.Errorf("got %s", show(t, got))
	}
	if got := p.Of(nil); got != nil {
		t.Errorf("of no item: %s", show(t, got))
	}
}
