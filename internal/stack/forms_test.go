package stack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// inJSON returns a loaded template as JSON, with its functions in the long
// form.
func inJSON(t *testing.T, n *yaml.Node) json.RawMessage {
	t.Helper()
	var v any
	switch {
	case n.Kind == yaml.SequenceNode:
		list := []json.RawMessage{}
		for _, item := range n.Content {
			list = append(list, inJSON(t, item))
		}
		v = list
	case n.Kind == yaml.MappingNode:
		members := map[string]json.RawMessage{}
		for _, e := range entries(n) {
			members[e.key.Value] = inJSON(t, e.value)
		}
		v = members
	case n.Tag == "!!int" || n.Tag == "!!bool":
		v = json.RawMessage(n.Value)
	default:
		v = n.Value
	}
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestJSONAndYAMLGiveTheSameStack checks that the same template in YAML and JSON gives
// the same stack.
func TestJSONAndYAMLGiveTheSameStack(t *testing.T) {
	t.Parallel()
	files := []string{
		"testdata/short.yaml", "testdata/fifo.yaml", "testdata/foreign/starter.yaml",
		"testdata/foreign/import.yaml", "testdata/foreign/polyglot.yaml", "testdata/foreign/pipeline.yaml",
		repositoryTemplate,
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root, _, err := load(file, text)
			if err != nil {
				t.Fatal(err)
			}
			options := &Options{}
			if member(member(root, "Parameters"), "DatabaseUrl") != nil {
				options.Parameters = map[string]string{"DatabaseUrl": "given"}
			}
			want, err := parse(file, text, options)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parse(file, inJSON(t, root), options)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Notes) != len(want.Notes) {
				t.Errorf("notes %q, want %q but for the lines", got.Notes, want.Notes)
			}
			got.Notes, want.Notes = nil, nil
			byID := cmp.Options{sorted(func(q Queue) string { return q.LogicalID }),
				sorted(func(f Function) string { return f.LogicalID }), sorted(func(e SQSEvent) string { return e.Name }),
				sorted(func(table Table) string { return table.LogicalID })}
			if diff := cmp.Diff(want, got, byID); diff != "" {
				t.Errorf("stack (-YAML +JSON):\n%s", diff)
			}
		})
	}
}

// sorted compares lists without their order: the members of the JSON are sorted
// by name.
func sorted[T any](name func(T) string) cmp.Option {
	return cmp.Transformer("sorted", func(list []T) map[string]T {
		byName := map[string]T{}
		for _, item := range list {
			byName[name(item)] = item
		}
		return byName
	})
}

// TestErrorsInJSONHaveTheirLine covers JSON that is indented with tabs, too.
func TestErrorsInJSONHaveTheirLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"cut off", "{\n\t\"Resources\": {\n", `^t\.json:3: neither YAML nor JSON: .+$`},
		{"comma missing", "{\n\t\"Resources\": {}\n\t\"Outputs\": {}\n}", `^t\.json:[23]: neither YAML nor JSON: .+$`},
		{"given twice", "{\n\t\"Resources\": {},\n\t\"Resources\": {}\n}",
			`^t\.json:3: Resources is given twice: remove one of the two$`},
		{"no type", "{\n\t\"Resources\": {\n\t\t\"A\": {}\n\t}\n}", `^t\.json:3: A has no Type: .+$`},
		{"wrong value", "{\"Resources\": {\n\t\"A\": {\"Type\": \"AWS::SQS::Queue\",\n\t\t\"Properties\": " +
			"{\"DelaySeconds\": 901}}\n}}", `^t\.json:3: A: DelaySeconds "901": a whole number from 0 to 900 is needed$`},
		{"a list", "[\n]", `^t\.json:1: not a template: .+$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("t.json", []byte(tt.text), nil)
			if err == nil || !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
