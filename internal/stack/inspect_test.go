package stack

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// inspection checks that a template has what its stack needs in AWS. It uses no
// names of resources: it finds each function's queue and other resources by
// reference.
type inspection struct {
	t        *template
	s        *Stack
	root     *yaml.Node
	problems []string
}

// inspect returns what is wrong with a template, for each of several sets of
// parameters.
func inspect(text string, sets ...map[string]string) []string {
	root, _, err := load(repositoryTemplate, []byte(text))
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, parameters := range sets {
		problems = append(problems, inspectUnder(root, parameters)...)
	}
	return problems
}

func inspectUnder(root *yaml.Node, parameters map[string]string) []string {
	options := (&Options{Parameters: parameters}).withDefaults()
	reading := &template{file: repositoryTemplate, options: options}
	reading.declare(root)
	i := &inspection{s: &Stack{}, root: root}
	if reading.err == nil {
		reading.readInto(i.s)
	}
	if reading.err != nil {
		return []string{reading.err.Error()}
	}
	i.t = &template{file: repositoryTemplate, options: options, placeholders: true}
	i.t.declare(root)
	for _, look := range []func(){
		i.parameters, i.ranges, i.kinds, i.references, i.functions, i.queues, i.tables, i.roles, i.topic, i.outputs,
	} {
		look()
	}
	if i.t.err != nil {
		return []string{i.t.err.Error()}
	}
	return i.problems
}

func (i *inspection) report(format string, args ...any) {
	i.problems = append(i.problems, fmt.Sprintf(format, args...))
}

// expect reports a value that differs from the wanted one.
func (i *inspection) expect(what string, got any, want string) {
	if fmt.Sprint(got) != want {
		i.report("%s is %v, want %s", what, got, want)
	}
}

// properties returns a resource's properties, resolved and merged with Globals.
func (i *inspection) properties(id string) map[string]any {
	r := i.t.resource(id)
	if r == nil {
		return nil
	}
	properties, _ := i.t.plain(i.t.properties(r).node).(map[string]any)
	return properties
}

// existing returns the resources of a type whose condition is true.
func (i *inspection) existing(kind string) []*resource {
	return slices.DeleteFunc(slices.Clone(i.t.resources), func(r *resource) bool {
		return r.kind != kind || !i.t.exists(r)
	})
}

// parameter returns the value of a parameter.
func (i *inspection) parameter(name string) string {
	if p := i.t.parameters[name]; p != nil && p.value != nil {
		return *p.value
	}
	i.report("there is no parameter %s", name)
	return ""
}

// at returns the value at a path of nested mappings.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// list returns the items of a list.
func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// raw returns a resource's property as it is written.
func (i *inspection) raw(id string, path ...string) *yaml.Node {
	n := i.t.properties(i.t.resource(id)).node
	for _, name := range path {
		n = member(n, name)
	}
	return n
}

// parameters checks that each parameter is used and has a range.
func (i *inspection) parameters() {
	used := map[string]bool{}
	i.walk(i.root, func(_ *yaml.Node, name string) { used[name] = true }, func(string) {})
	for _, e := range entries(member(i.root, "Parameters")) {
		has := func(name string) bool { return member(e.value, name) != nil }
		bounded := has("AllowedPattern") || has("AllowedValues") || has("MinValue") && has("MaxValue")
		if !bounded || !has("Type") || !has("Default") || !has("Description") {
			i.report("parameter %s lacks a range, a type, a default or a description", e.key.Value)
		}
		if !used[e.key.Value] {
			i.report("parameter %s is used nowhere", e.key.Value)
		}
	}
}

// references checks that everything that is referred to exists.
func (i *inspection) references() {
	named := func(_ *yaml.Node, name string) {
		_, pseudo := i.t.pseudo(name)
		known := pseudo || name == "AWS::NoValue" || i.t.parameters[name] != nil || i.t.resource(name) != nil
		if !known && !i.t.madeBySAM(name) {
			i.report("%s is named, but there is none", name)
		}
	}
	conditions := map[string]bool{}
	i.walk(i.root, named, func(name string) {
		conditions[name] = true
		if i.t.conditions[name] == nil {
			i.report("condition %s is named, but there is none", name)
		}
	})
	for name := range i.t.conditions {
		if !conditions[name] {
			i.report("condition %s is used nowhere", name)
		}
	}
}

var substitution = regexp.MustCompile(`\$\{([A-Za-z0-9:.]+)\}`)

// walk calls named for each resource and parameter that intrinsic functions
// refer to, and condition for each condition.
func (i *inspection) walk(n *yaml.Node, named func(at *yaml.Node, name string), condition func(name string)) {
	function, argument := intrinsic(n)
	switch function {
	case "Ref":
		named(n, argument.Value)
	case "Fn::GetAtt":
		id, _, _ := strings.Cut(argument.Value, ".")
		named(n, id)
	case "Condition":
		condition(argument.Value)
	case "Fn::If":
		condition(argument.Content[0].Value)
	case "Fn::Sub":
		text, variables := argument, (*yaml.Node)(nil)
		if argument.Kind == yaml.SequenceNode {
			text, variables = argument.Content[0], argument.Content[1]
		}
		for _, found := range substitution.FindAllStringSubmatch(text.Value, -1) {
			if id, _, _ := strings.Cut(found[1], "."); member(variables, id) == nil {
				named(n, id)
			}
		}
	}
	if c := member(n, "Condition"); c != nil && member(n, "Type") != nil {
		condition(c.Value)
	}
	for _, child := range n.Content {
		i.walk(child, named, condition)
	}
}

// changed returns parameters that differ from the defaults, which shows whether
// the template passes them on, and makes conditions true.
func changed() map[string]string {
	return map[string]string{
		"AlarmTopicArn":  "arn:aws:sns:us-east-1:123456789012:pager",
		"NoticeTopicArn": "arn:aws:sns:us-east-1:123456789012:mail",
		"AlarmEmail":     "pager@example.com",
		"FloodThreshold": "7", "QueueAgeThreshold": "601", "StalledMinutes": "6",
		"PartialFailurePercent": "9", "FunctionTimeout": "20", "VisibilityTimeout": "121", "MaximumConcurrency": "3",
		"MaxReceiveCount": "40", "FifoMaxReceiveCount": "90", "MaxAttempts": "5", "UnclassifiedAttempts": "2",
		"Backoff": "stepped", "Jitter": "0.5", "Concurrency": "4", "LogLevel": "DEBUG", "LogExcerptBytes": "64",
		"MetricsNamespace": "shop/jobs", "LogRetentionDays": "7", "RunbookUrl": "https://wiki.example.com/runbook",
		"Architecture": "x86_64", "DeploymentType": "AllAtOnce", "EndpointUrl": "http://127.0.0.1:4570",
	}
}

// utmost returns the longest values, with a subscriber to the stack's own
// topic.
func utmost() map[string]string {
	return map[string]string{
		"AlarmEmail": "pager@example.com", "FunctionTimeout": "900", "VisibilityTimeout": "43200",
		"MaxAttempts": "50", "UnclassifiedAttempts": "50", "Backoff": "exponential", "Jitter": "0.3333",
		"Concurrency": "100", "MaxReceiveCount": "1000", "FifoMaxReceiveCount": "1000", "LogLevel": "DEBUG",
		"LogExcerptBytes": "1024", "MetricsNamespace": strings.Repeat("x", 40), "StalledMinutes": "120",
		"PaymentUrl": "https://" + strings.Repeat("x", 92), "NotifyUrl": "https://" + strings.Repeat("x", 92),
	}
}

func repositoryText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(repositoryTemplate)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRepositoryTemplatePassesInspection(t *testing.T) {
	t.Parallel()
	for _, problem := range inspect(repositoryText(t), nil, changed(), utmost()) {
		t.Error(problem)
	}
}
