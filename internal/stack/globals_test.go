package stack

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// withGlobals returns the template sound with Globals for functions.
func withGlobals(globals string) string {
	return "Globals: {Function: " + globals + "}\n" + sound
}

func TestGlobals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, globals, old, new string
		check                   func(f Function) bool
	}{
		{
			"a default", "{MemorySize: 512}", "", "",
			func(f Function) bool { return f.MemoryMB == 512 },
		},
		{
			"the function's own goes first", "{Timeout: 20}", "", "",
			func(f Function) bool { return f.Timeout == 10*time.Second },
		},
		{
			"variables are merged", "{Environment: {Variables: {VALUE: a, MORE: b}}}", "", "",
			func(f Function) bool { return f.Environment["VALUE"] == "plain" && f.Environment["MORE"] == "b" },
		},
		{
			"a function over a mapping replaces it", "{Environment: {Variables: {MORE: b}}}",
			"{Variables: {VALUE: plain}}", "{Variables: !If [Fast, {ONLY: c}, {}]}",
			func(f Function) bool { return len(f.Environment) == 1 && f.Environment["ONLY"] == "c" },
		},
		{
			"runtime and code", "{Runtime: provided.al2, CodeUri: code/}",
			"      CodeUri: code\n      Handler: bootstrap\n      Runtime: provided.al2023\n", "      Handler: bootstrap\n",
			func(f Function) bool { return f.Runtime == "provided.al2" && strings.HasSuffix(f.CodeURI, "code") },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := withGlobals(tt.globals)
			if tt.old != "" {
				text = strings.Replace(text, tt.old, tt.new, 1)
			}
			s, err := parseSAM("testdata/template.yaml", text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(s.Functions[0]) {
				t.Errorf("function %+v", s.Functions[0])
			}
		})
	}
}

func TestMergeConcatenatesLists(t *testing.T) {
	t.Parallel()
	root, _, err := load("t.yaml", []byte("preset: {a: [x], b: 1}\nown: {a: [y], c: 2}"))
	if err != nil {
		t.Fatal(err)
	}
	merged := merge(member(root, "preset"), member(root, "own"))
	var got []string
	for _, e := range entries(merged) {
		text := e.key.Value + "=" + e.value.Value
		for _, item := range e.value.Content {
			text += item.Value
		}
		got = append(got, text)
	}
	if want := "a=xy b=1 c=2"; strings.Join(got, " ") != want {
		t.Errorf("merged %q, want %s", got, want)
	}
}

func TestUnusableText(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", "t.yaml: the template is empty: write its Resources"},
		{" \n", "t.yaml: the template is empty: write its Resources"},
		{"# nothing yet\n", "t.yaml: the template is empty: write its Resources"},
		{"Resources: {}\n---\nResources: {}\n", "t.yaml: it has more than one document: keep one, and remove the line --- " +
			"between them"},
		{"just text", "t.yaml:1: not a template: the top must be a mapping with Resources"},
		{"[a]", "t.yaml:1: not a template: the top must be a mapping with Resources"},
		{"{}", "t.yaml: no function with an SQS event: give an AWS::Serverless::Function an event of Type: SQS"},
		{"a: b\n\tc: d", "t.yaml:2: neither YAML nor JSON: found a tab character that violates indentation"},
	}
	for _, tt := range tests {
		if _, err := parse("t.yaml", []byte(tt.text), nil); err == nil || err.Error() != tt.want {
			t.Errorf("%q: error %v, want %s", tt.text, err, tt.want)
		}
	}
}

// Lambda accepts a timeout above 900 s for functions on instances of a capacity
// provider only.
func TestTimeoutsWithACapacityProvider(t *testing.T) {
	t.Parallel()
	for globals, limit := range map[string]int{"{MemorySize: 512}": 900, "{CapacityProviderConfig: {Arn: a}}": 5400} {
		for seconds, ok := range map[int]bool{limit: true, limit + 1: false} {
			text := strings.Replace(withGlobals(globals), "Timeout: 10", "Timeout: "+strconv.Itoa(seconds), 1)
			text = strings.Replace(text, "VisibilityTimeout: !Ref Wait", "VisibilityTimeout: 43200", 1)
			s, err := parseSAM("testdata/template.yaml", text, nil)
			if (err == nil) != ok {
				t.Errorf("%s, %d s: %v", globals, seconds, err)
			} else if ok && s.Functions[0].Timeout != time.Duration(seconds)*time.Second {
				t.Errorf("%s: timeout %v, want %d s", globals, s.Functions[0].Timeout, seconds)
			}
		}
	}
}
